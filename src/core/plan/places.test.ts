/** The places where faults may be injected: as text, in a plan, and in a run. */
import { describe, expect, test } from 'vitest';
import { pause, planWith } from '../shrink/sample-plan.fixture.ts';
import type { FaultOf, When } from './fault.ts';
import {
  declaredPoints,
  distanceFromPlaces,
  durationsOf,
  formatPlace,
  lengthIn,
  parsePlace,
  wasInPlace,
} from './places.ts';
import type { FaultPlace, Plan } from './plan.ts';
import { readPlan, renderPlan } from './plan-text.ts';

const MS = 1000;
const time: FaultPlace = { kind: 'time', at: { minUs: 5 * MS, maxUs: 20 * MS } };

function withPlaces(...places: readonly FaultPlace[]): Plan {
  const plan = planWith([]);
  return { ...plan, bounds: { ...plan.bounds, places: { pause: places } } };
}

function at(when: When): FaultOf<'pause'> {
  return { ...pause('alice', 1), when };
}

const before = (point: string): When => ({ kind: 'before', point });
const after = (point: string): When => ({ kind: 'after', point });

test.each([
  ['5ms..20ms', time],
  ['5ms', { kind: 'time', at: { minUs: 5 * MS, maxUs: 5 * MS } }],
  ['any point', { kind: 'any point' }],
  ['before del', { kind: 'before', point: 'del' }],
  ['after alice/1/write-2', { kind: 'after', point: 'alice/1/write-2' }],
] as const)('%s is read and written as a place', (text, place) => {
  expect(parsePlace(text)).toEqual(place);
  expect(formatPlace(place)).toBe(text);
});

test.each(['before', 'before two words', 'beside del', 'del', '20ms..5ms'])(
  '%s is not a place',
  (text) => {
    expect(parsePlace(text)).toBeUndefined();
  },
);

test('a plan reads back as it was written, with and without places', () => {
  for (const plan of [withPlaces(time, { kind: 'before', point: 'del' }), planWith([])]) {
    const text = renderPlan(plan);
    expect(readPlan({ file: 'p.yaml', text })).toEqual({ kind: 'plan', plan });
  }
  const wrong = renderPlan(withPlaces({ kind: 'any point' })).replace('any point', 'nowhere');
  const read = readPlan({ file: 'p.yaml', text: wrong });
  expect(read.kind === 'problems' && read.problems[0]?.what).toMatch(/^expected times such as/);
});

test('a length moves to the nearest range below it, or else to the shortest length', () => {
  const durations = {
    pause: [
      { minUs: 14, maxUs: 20 },
      { minUs: 3, maxUs: 6 },
    ],
  };
  const ranges = durationsOf({ ...planWith([]).bounds, durations }, 'pause');
  const lengths = [1, 3, 5, 6, 13, 14, 21, Number.POSITIVE_INFINITY];
  expect(lengths.map((us) => lengthIn(ranges, us))).toEqual([3, 3, 5, 6, 6, 14, 20, 20]);
});

describe('the distance of a fault from its allowed places', () => {
  const ofVerb = withPlaces({ kind: 'before', point: 'write' });

  test('is 0 if the plan has no places', () => {
    expect(distanceFromPlaces(planWith([]), at({ kind: 'at', atUs: 7 }))).toBe(0);
    expect(wasInPlace(planWith([]), at(before('alice/1/read')), 7)).toBe(true);
  });

  test('is a time if the place is a range of times', () => {
    const distances = [0, 5, 12, 20, 23].map((ms) =>
      distanceFromPlaces(withPlaces(time), at({ kind: 'at', atUs: ms * MS })),
    );
    expect(distances).toEqual([5 * MS, 0, 0, 0, 3 * MS]);
  });

  test('is infinite for another verb, side or time if the place is a verb', () => {
    expect(distanceFromPlaces(ofVerb, at(before('alice/1/write')))).toBe(0);
    for (const when of [before('alice/1/acquire'), after('alice/1/write')]) {
      expect(distanceFromPlaces(ofVerb, at(when))).toBe(Number.POSITIVE_INFINITY);
    }
    expect(distanceFromPlaces(ofVerb, at({ kind: 'at', atUs: 0 }))).toBe(Number.POSITIVE_INFINITY);
  });

  test('is 0 for a point if the place is a time; the time of the run then decides', () => {
    const plan = withPlaces(time);
    expect(distanceFromPlaces(plan, at(before('alice/1/read')))).toBe(0);
    expect(wasInPlace(plan, at(before('alice/1/read')), 12 * MS)).toBe(true);
    expect(wasInPlace(plan, at(before('alice/1/read')), 21 * MS)).toBe(false);
  });

  test('is 0 at a complete name, and at any point whenever it is passed', () => {
    const named = withPlaces({ kind: 'after', point: 'lock/mark' });
    const anywhere = withPlaces({ kind: 'any point' });
    expect(distanceFromPlaces(named, at(after('lock/mark')))).toBe(0);
    expect(wasInPlace(anywhere, at(after('alice/9/x')), 99 * MS)).toBe(true);
    expect(distanceFromPlaces(anywhere, at({ kind: 'at', atUs: 0 }))).toBe(Infinity);
    expect(wasInPlace(anywhere, at({ kind: 'at', atUs: 0 }), 0)).toBe(false);
  });
});

test('a verb of asynchronous code only is a point of each section', () => {
  const plan = withPlaces({ kind: 'before', point: 'del' });
  const points = declaredPoints(plan).map(({ point }) => point);
  expect(points).toContain('alice/1/del');
  expect(points.every((point) => point.endsWith('/del'))).toBe(true);
  expect(declaredPoints(planWith([]))).toEqual([]);
});

test('a fault at an undeclared point is in place if some place is a time', () => {
  const point: FaultPlace = { kind: 'before', point: 'alice/1/acquire' };
  const time: FaultPlace = { kind: 'time', at: { minUs: 0, maxUs: 9 } };
  const when = { kind: 'after', point: 'alice/1/nowhere' } as const;
  const elsewhere = { kind: 'pause', process: 'alice', when, forUs: 1, clocks: 'run' } as const;
  expect(distanceFromPlaces(withPlaces(point, time), elsewhere)).toBe(0);
  expect(distanceFromPlaces(withPlaces(point), elsewhere)).toBe(Number.POSITIVE_INFINITY);
});
