import { describe, expect, test } from 'vitest';
import type { FaultOf, When } from '../plan/fault.ts';
import { happen, linesOf, MS, type Script, type Setup } from './echo.fixture.ts';

function clockOf(part: Partial<FaultOf<'clock'>>): FaultOf<'clock'> {
  const when: When = { kind: 'at', atUs: 2 * MS };
  return { kind: 'clock', process: 'alice', when, stepUs: 0, ratePpm: 0, ...part };
}

/** Reports its two clocks after 10 ms of its own time, as the numbers that `echo` adds. */
const readsClock: Script = function* (alice) {
  yield* alice.wait('nap', 10);
  yield* alice.notify({ name: 'mono', add: alice.self.monotonicUs() });
  yield* alice.notify({ name: 'wall', add: alice.self.wallUs() });
};

function readings(faults: readonly FaultOf<'clock'>[], setup: Setup = {}): readonly string[] {
  return linesOf(happen({ alice: readsClock }, { ...setup, faults }), 'do');
}

describe('a clock fault', () => {
  test('with a step moves the wall clock only, so that no timer is affected', () => {
    expect(readings([clockOf({ stepUs: 5000 })])).toEqual([
      '11 do alice/mono total 10000 count 1',
      '11 do alice/wall total 25000 count 2',
    ]);
    expect(readings([clockOf({ stepUs: -5000 })])[1]).toBe('11 do alice/wall total 15000 count 2');
  });

  test('with only a step keeps an earlier rate', () => {
    const step = clockOf({ stepUs: 5000, when: { kind: 'at', atUs: 4 * MS } });
    expect(readings([clockOf({ ratePpm: 1_000_000 }), step])).toEqual([
      '7 do alice/mono total 10000 count 1',
      '7 do alice/wall total 25000 count 2',
    ]);
  });

  test('without step and rate restores the true rate', () => {
    const back = clockOf({ when: { kind: 'at', atUs: 4 * MS } });
    expect(readings([clockOf({ ratePpm: 1_000_000 }), back])[0]).toBe(
      '9 do alice/mono total 10000 count 1',
    );
  });

  test('with a rate affects both clocks and the timers', () => {
    // 2 ms at the true rate, then 8 ms on a clock that runs twice as fast.
    expect(readings([clockOf({ ratePpm: 1_000_000 - 1 + 1 })])).toEqual([
      '7 do alice/mono total 10000 count 1',
      '7 do alice/wall total 20000 count 2',
    ]);
    // The same on one that runs half as fast.
    expect(readings([clockOf({ ratePpm: -500_000 })])).toEqual([
      '19 do alice/mono total 10000 count 1',
      '19 do alice/wall total 20000 count 2',
    ]);
  });

  test('at time 0 is injected before any other event, on every seed', () => {
    const now: Script = function* (alice) {
      yield* alice.wait('nap', 0);
      yield* alice.notify({ name: 'wall', add: alice.self.wallUs() });
    };
    const faults = [clockOf({ stepUs: 7000, when: { kind: 'at', atUs: 0 } })];
    for (let seed = 0; seed < 10; seed += 1) {
      const trace = happen({ alice: now }, { faults, chance: { seed } });
      expect(linesOf(trace, 'do')).toEqual(['1 do alice/wall total 7000 count 1']);
    }
  });

  test.each(['before', 'after'] as const)('can be injected %s an operation', (kind) => {
    const script: Script = function* (alice) {
      yield* alice.ask({ name: 'a', add: alice.self.wallUs() });
      yield* alice.ask({ name: 'b', add: alice.self.wallUs() });
    };
    const faults = [clockOf({ stepUs: 5000, when: { kind, point: 'alice/a' } })];
    const trace = happen({ alice: script }, { faults });
    expect(linesOf(trace, 'do')).toEqual([
      '1 do alice/a total 0 count 1',
      '3 do alice/b total 7000 count 2',
    ]);
  });

  test('affects no other process', () => {
    const faults = [clockOf({ stepUs: 5000, process: 'bob' })];
    const trace = happen({ alice: readsClock, bob: readsClock }, { faults });
    expect(linesOf(trace, 'do').slice(0, 2)).toEqual([
      '11 do alice/mono total 10000 count 1',
      '11 do alice/wall total 20000 count 2',
    ]);
  });

  test('with a step and a rate is recorded as two', () => {
    const faults = [clockOf({ stepUs: 5000, ratePpm: 100 })];
    const trace = happen({ alice: readsClock }, { faults });
    expect(linesOf(trace, 'inject')).toEqual(['2 inject clock step', '2 inject clock rate']);
  });

  test('loses its rate but keeps its offset when the world heals', () => {
    const faults = [clockOf({ stepUs: 5000, ratePpm: 1_000_000 })];
    // By true time 4 the clock shows 6; the last 4 ms of the nap run at the true rate.
    expect(readings(faults, { healAtMs: 4 })).toEqual([
      '9 do alice/mono total 10000 count 1',
      '9 do alice/wall total 25000 count 2',
    ]);
  });
});

test('a clock fault is recorded as a step, as a rate, or as both', () => {
  const noted = (part: Partial<FaultOf<'clock'>>): readonly string[] =>
    happen({ alice: readsClock }, { faults: [clockOf(part)] }).events.flatMap((event) =>
      event.kind === 'fault' ? [`${event.target} ${event.amount}`] : [],
    );
  expect(noted({ stepUs: 5000 })).toEqual(['step 5000']);
  expect(noted({ ratePpm: 200 })).toEqual(['rate 200']);
  expect(noted({ stepUs: -1, ratePpm: -2 })).toEqual(['step -1', 'rate -2']);
  expect(noted({})).toEqual(['rate 0']);
});
