/** The excess of plans over their bounds, and the excess that a search allows. */
import { describe, expect, test } from 'vitest';
import type { Fault, FaultOf, When } from '../plan/fault.ts';
import type { Plan } from '../plan/plan.ts';
import { pause, planWith } from './sample-plan.fixture.ts';
import { excessOf, isWithin, Search, type Steps } from './search.ts';

function clock(stepUs: number, when: When, ratePpm = 0): FaultOf<'clock'> {
  return { kind: 'clock', process: 'bob', when, stepUs, ratePpm };
}

const early = { kind: 'at', atUs: 1 } as const;
const late = { kind: 'at', atUs: 9 } as const;
const point = { kind: 'before', point: 'bob/1/write' } as const;
const drop: Fault = { kind: 'drop', which: { kind: 'message', message: 'm' } };
const start = planWith([]);

const fourteen = { minUs: 14_000, maxUs: 14_000 };

test.each<[string, Partial<Plan>, object]>([
  ['inside its bounds', {}, {}],
  [
    'with a latency too long',
    { network: { link: 'connection', latencyUs: 1_502 } },
    { latency: 2 },
  ],
  ['with a latency too short', { network: { link: 'connection', latencyUs: 497 } }, { latency: 3 }],
  [
    'with a decided latency too long',
    { decisions: { a: 1_501, b: 1_504, c: 1_502 } },
    { decisions: 4 },
  ],
  ['with a wait, which may be longer', { decisions: { 'alice/1/backoff-2': 9_999 } }, {}],
  ['with a stream, which is not a duration', { decisions: { 'alice/random': 9_999 } }, {}],
  [
    'with a think time too long',
    { bounds: { ...start.bounds, think: { minUs: 0, maxUs: 3_400 } } },
    { think: 56 },
  ],
  ['with a pause too short', { faults: [pause('bob', 1_999)] }, { pause: 1 }],
  [
    'with a pause between two ranges',
    {
      faults: [pause('bob', 8_000)],
      bounds: { ...start.bounds, durations: { pause: [{ minUs: 1, maxUs: 6_000 }, fourteen] } },
    },
    { pause: 2_000 },
  ],
  ['with a kind that it must not have', { faults: [drop] }, { drop: Number.POSITIVE_INFINITY }],
  ['with a step too far', { faults: [clock(-5_003, early)] }, { 'skew of bob': 3 }],
  [
    'with steps that add up',
    { faults: [clock(3_000, late), clock(2_500, early)] },
    { 'skew of bob': 500 },
  ],
  ['with steps that go back', { faults: [clock(-5_000, late), clock(5_000, early)] }, {}],
  [
    'with a first step that is far alone',
    { faults: [clock(-5_000, late), clock(5_100, early)] },
    { 'skew of bob': 100 },
  ],
  [
    'with steps forwards in any order, if one waits for a point',
    { faults: [clock(3_000, point), clock(-9, early), clock(2_500, early)] },
    { 'skew of bob': 500 },
  ],
  [
    'with steps backwards in any order, if one waits for a point',
    { faults: [clock(-3_000, point), clock(9, early), clock(-2_500, early)] },
    { 'skew of bob': 500 },
  ],
  [
    'with steps of different processes',
    { faults: [clock(3_000, early), { ...clock(3_000, early), process: 'carol' }] },
    {},
  ],
  ['with a slow clock', { faults: [clock(0, early, -7)] }, { 'drift of bob': 7 }],
  [
    'without any bounds of its clocks',
    {
      faults: [clock(9_999, early, 900)],
      bounds: { ...start.bounds, skewUs: null, driftPpm: null },
    },
    {},
  ],
])('the excess is measured for a plan %s', (_, change, excess) => {
  const plan = { ...start, ...change };
  expect(Object.fromEntries(excessOf(plan))).toEqual(excess);
});

test('a plan may not exceed its bounds further than allowed', () => {
  const outside = (latencyUs: number): Plan => ({
    ...start,
    network: { ...start.network, latencyUs },
  });
  const allowed = excessOf(outside(1_510));
  const within = [1_500, 1_510, 1_511, 491, 490, 489].map((us) => isWithin(outside(us), allowed));
  expect(within).toEqual([true, true, false, true, true, false]);
  expect(isWithin(outside(1_501), new Map())).toBe(false);
});

/** Answers each question of `steps` by `breaks`; returns its result and the plans in question. */
function answered<T>(steps: Steps<T>, breaks: boolean): { value: T; asked: readonly Plan[] } {
  const asked: Plan[] = [];
  for (let step = steps.next(); ; step = steps.next(breaks)) {
    if (step.done === true) return { value: step.value, asked };
    asked.push(step.value);
  }
}

describe('a search', () => {
  const simpler: Plan = { ...start, decisions: {} };

  test('judges each plan once', () => {
    const search = new Search(start, 9, () => false);
    expect(answered(search.ask(simpler), false)).toEqual({ value: false, asked: [simpler] });
    expect(answered(search.ask({ ...simpler }), true)).toEqual({ value: false, asked: [] });
    expect([search.runs, search.isSpent]).toEqual([1, false]);
  });

  test('asks nothing after its budget is spent, but remembers earlier answers', () => {
    const search = new Search(start, 1, () => false);
    answered(search.ask(simpler), true);
    expect(search.isSpent).toBe(true);
    expect(answered(search.ask(start), true)).toEqual({ value: null, asked: [] });
    expect(answered(search.ask(simpler), false)).toEqual({ value: true, asked: [] });
  });

  test('ends after 100 questions per allowed run', () => {
    const search = new Search(start, 1, () => false);
    for (let asked = 0; asked < 99; asked += 1) answered(search.ask(simpler), true);
    search.runLimit = 2;
    expect(search.isSpent).toBe(false);
    search.runLimit = 1;
    expect(answered(search.ask(simpler), true).value).toBe(true);
    expect(answered(search.ask(simpler), true).value).toBeNull();
  });

  test('accepts a plan that is simpler, in bounds and breaks the claim, and counts it', () => {
    const search = new Search(start, 9, () => false);
    const wide = { ...simpler, network: { ...start.network, latencyUs: 2_000 } };
    expect(answered(search.attempt(start), true)).toEqual({ value: false, asked: [] });
    expect(answered(search.attempt(wide), true)).toEqual({ value: false, asked: [] });
    expect(answered(search.attempt(simpler), true)).toEqual({ value: true, asked: [simpler] });
    expect([search.current, search.accepted]).toEqual([simpler, 1]);
    const least = { ...simpler, order: [] };
    expect(answered(search.attempt(least), false).value).toBe(false);
    expect([search.current, search.accepted, search.runs]).toEqual([simpler, 1, 2]);
  });

  test('tries candidates until one is accepted', () => {
    const search = new Search(start, 9, () => false);
    const least = { ...simpler, order: [] };
    const tried = answered(search.attemptFirst([start, simpler, least]), true);
    expect(tried).toEqual({ value: true, asked: [simpler] });
    expect(answered(search.attemptFirst([start]), true).value).toBe(false);
  });

  test('sums the counts of a pass over its turns', () => {
    const search = new Search(start, 9, () => false);
    const candidates = [simpler, { ...simpler, order: [] }];
    const pass = {
      name: 'try',
      *run(): Steps<void> {
        yield* search.attemptFirst(candidates.splice(0, 1));
      },
    };
    for (let turn = 0; turn < 3; turn += 1) answered(search.turn(pass), true);
    expect(search.passCounts).toEqual([{ pass: 'try', runs: 2, accepted: 2 }]);
  });

  test('does nothing after it was asked to stop', () => {
    const search = new Search(start, 9, () => true);
    const pass = { name: 'try', run: (): Steps<void> => expect.unreachable() };
    answered(search.turn(pass), true);
    expect(search.passCounts).toEqual([]);
    expect(search.isSpent).toBe(true);
    expect(answered(search.attempt(simpler), true)).toEqual({ value: false, asked: [] });
    expect(answered(search.ask(simpler), true)).toEqual({ value: null, asked: [] });
  });
});
