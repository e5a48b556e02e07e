import { describe, expect, test } from 'vitest';
import { nameOf } from '../kernel/name.ts';
import type { ChancePlan, Plan } from '../plan/plan.ts';
import { planWith } from '../shrink/sample-plan.fixture.ts';
import { Choices } from './choices.ts';
import { happen, linesOf, MS, type Script } from './echo.fixture.ts';
import { backOff, mark } from './program.ts';

const asks: Script = function* (alice) {
  yield* alice.ask({ name: 'a' });
};

const naps: Script = function* (alice) {
  yield* alice.wait('one', 2);
  yield* alice.wait('two', 2);
};

describe('a decision of the plan', () => {
  test('fixes a latency and the length of a wait by name', () => {
    const script: Script = function* (alice) {
      yield* alice.wait('nap', 1);
      yield* alice.ask({ name: 'a' });
    };
    const decisions = { 'alice/a/1/request': 4 * MS, 'alice/nap': 3 * MS };
    const trace = happen({ alice: script }, { decisions });
    expect(linesOf(trace, 'do')).toEqual(['7 do alice/a total 1 count 1']);
    expect(trace.unmatched).toEqual([]);
  });

  test('overrides chance', () => {
    const latency = { minUs: 9 * MS, maxUs: 9 * MS };
    const decisions = { 'alice/a/1/request': 4 * MS };
    const trace = happen({ alice: asks }, { decisions, chance: { latency } });
    expect(linesOf(trace, 'do', 'end').map((line) => line.split(' ')[0])).toEqual(['4', '13']);
  });

  test('orders simultaneous events, and puts those that it names first', () => {
    const scripts = { alice: asks, bob: asks, carol: asks };
    const order = ['carol/a/1/request', 'bob/a/1/request'];
    for (const seed of [1, 2, 3, 4]) {
      const trace = happen(scripts, { order, chance: { seed } });
      expect(linesOf(trace, 'do').map((line) => line.split(' ')[2])).toEqual([
        'carol/a',
        'bob/a',
        'alice/a',
      ]);
    }
  });
});

describe('chance', () => {
  const often = { numerator: 1, denominator: 2, minUs: MS, maxUs: 2 * MS };

  function kindsDrawn(chance: Parameters<typeof happen>[1]): ReadonlySet<string> {
    const kinds = new Set<string>();
    for (let seed = 0; seed < 20; seed += 1) {
      const setup = { ...chance, chance: { ...chance?.chance, seed } };
      for (const line of linesOf(happen({ alice: asks, bob: naps }, setup), 'inject')) {
        kinds.add(line.split(' ')[2] ?? '');
      }
    }
    return kinds;
  }

  test('draws delays, drops, duplicates of datagrams and late timers, each if requested', () => {
    const drop = { numerator: 1, denominator: 4 };
    const chance = { delay: often, drop, duplicate: often, lateTimer: often };
    const link = 'datagram';
    expect(kindsDrawn({ chance: { delay: often } })).toEqual(new Set(['delay']));
    expect(kindsDrawn({ chance: { drop } })).toEqual(new Set(['drop']));
    expect(kindsDrawn({ chance: { duplicate: often } })).toEqual(new Set());
    expect(kindsDrawn({ chance: { duplicate: often }, link })).toEqual(new Set(['duplicate']));
    expect(kindsDrawn({ chance: { lateTimer: often } })).toEqual(new Set(['late-timer']));
    expect(kindsDrawn({ chance, link }).size).toBe(4);
  });

  test('duplicates requests only, since no process executes a reply', () => {
    const duplicate = { ...often, numerator: 2 };
    const trace = happen({ alice: asks }, { chance: { duplicate }, link: 'datagram' });
    expect(linesOf(trace, 'inject')).toEqual(['0 inject duplicate alice/a/1/request']);
  });

  test('draws within the ranges of the plan', () => {
    for (let seed = 0; seed < 50; seed += 1) {
      const chance = { seed, latency: { minUs: 500, maxUs: 1500 }, delay: often };
      const { events } = happen({ alice: asks }, { chance });
      const injected = events.find((event) => event.kind === 'fault');
      if (injected?.kind === 'fault') {
        expect(injected.amount).toBeGreaterThanOrEqual(MS);
        expect(injected.amount).toBeLessThanOrEqual(2 * MS);
      }
      const receipt = events.find((event) => event.kind === 'receive');
      const delayed = injected?.kind === 'fault' && injected.target.endsWith('request');
      const lateUs = delayed && injected.kind === 'fault' ? injected.amount : 0;
      expect(receipt?.atUs).toBeGreaterThanOrEqual(500 + lateUs);
      expect(receipt?.atUs).toBeLessThanOrEqual(1500 + lateUs);
    }
  });

  test('lengthens a back-off, and no other wait, by up to its jitter', () => {
    const script: Script = function* (alice) {
      yield* alice.wait('nap', 10);
      yield* mark(nameOf('alice'), 'napped');
      yield* backOff(nameOf('alice/backoff'), 10 * MS);
      yield* mark(nameOf('alice'), 'backed-off');
    };
    const lengths = Array.from({ length: 50 }, (_, seed) => {
      const jitter = { numerator: 1, denominator: 2 };
      const [napped, backedOff] = happen({ alice: script }, { chance: { seed, jitter } }).events;
      expect(napped?.atUs).toBe(10 * MS);
      return (backedOff?.atUs ?? 0) - 10 * MS;
    });
    expect(Math.min(...lengths)).toBeLessThan(11 * MS);
    expect(Math.max(...lengths)).toBeGreaterThan(14 * MS);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(15 * MS);
  });
});

describe('the stream of random numbers of a process', () => {
  const stream = nameOf('alice/random');
  const chance: ChancePlan = {
    seed: 7,
    latency: null,
    latencyStepUs: 1,
    delay: null,
    drop: null,
    duplicate: null,
    lateTimer: null,
    jitter: null,
  };
  const drawnBy = (more: Partial<Plan>): readonly unknown[] => {
    const log = { decisions: new Map<string, number>(), faults: [] };
    const drawn = new Choices({ ...planWith([]), decisions: {}, ...more }, log).streamOf(stream);
    return [drawn, log.decisions.get(stream.text)];
  };

  test('is 0 without chance, and differs per seed', () => {
    expect(drawnBy({})).toEqual([0, undefined]);
    const streams = [1, 2, 3, 4].map((seed) => drawnBy({ chance: { ...chance, seed } })[0]);
    expect(new Set(streams).size).toBe(4);
    for (const one of streams) expect(one).toBeLessThan(1_000_000);
  });

  test('is the decided one, or else is drawn and recorded', () => {
    expect(drawnBy({ chance, decisions: { 'alice/random': 3 } })).toEqual([3, undefined]);
    const [drawn, logged] = drawnBy({ chance });
    expect(logged).toBe(drawn);
    expect(new Choices({ ...planWith([]), chance }, null).streamOf(stream)).toBe(drawn);
  });
});
