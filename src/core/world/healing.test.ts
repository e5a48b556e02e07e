import { describe, expect, test } from 'vitest';
import type { Fault, When } from '../plan/fault.ts';
import { happen, linesOf, MS, type Script } from './echo.fixture.ts';

const healAtMs = 20;

function at(ms: number): When {
  return { kind: 'at', atUs: ms * MS };
}

function pauseAt(ms: number, process = 'alice'): Fault {
  return { kind: 'pause', process, when: at(ms), forUs: 100 * MS, clocks: 'run' };
}

/** Asks ten times, every 3 ms. */
const asks: Script = function* (actor) {
  for (let at = 1; at <= 10; at += 1) {
    yield* actor.ask({ name: `${at}` });
    yield* actor.wait(`after-${at}`, 1);
  }
};

describe('when the world heals', () => {
  test('pauses end', () => {
    const trace = happen({ alice: asks }, { faults: [pauseAt(1)], healAtMs });
    expect(linesOf(trace, 'resume', 'end').slice(0, 2)).toEqual([
      '20 resume alice',
      '20 end alice/1 ok 1',
    ]);
  });

  test('frozen clocks run again', () => {
    const frozen: Fault = {
      kind: 'pause',
      process: 'alice',
      when: at(1),
      forUs: 100 * MS,
      clocks: 'freeze',
    };
    const naps: Script = function* (alice) {
      yield* alice.wait('nap', 5);
      yield* alice.ask({ name: 'a' });
    };
    const trace = happen({ alice: naps }, { faults: [frozen], healAtMs });
    expect(linesOf(trace, 'call')).toEqual(['24 call alice/a']);
  });

  test('partitions heal', () => {
    const partition: Fault = {
      kind: 'partition',
      from: ['alice'],
      to: ['echo'],
      direction: 'both',
      when: at(0.5),
      forUs: 100 * MS,
    };
    const trace = happen({ alice: asks }, { faults: [partition], healAtMs });
    expect(linesOf(trace, 'healed', 'heal', 'end').slice(0, 3)).toEqual([
      '20 healed',
      '20 heal alice echo',
      '21 end alice/1 ok 1',
    ]);
  });

  test('no fault of the plan fires any more, and each is reported as unmatched', () => {
    const which = { kind: 'link', from: 'alice', to: 'echo', atUs: 20 * MS } as const;
    const when = { kind: 'after', point: 'alice/9' } as const;
    const faults: Fault[] = [
      pauseAt(20),
      { kind: 'crash', process: 'alice', when, restartAfterUs: null },
      { kind: 'delay', which, byUs: MS },
      { kind: 'drop', which: { kind: 'message', message: 'alice/9/1/request' } },
      { kind: 'late-timer', which: { kind: 'timer', timer: 'alice/after-9' }, byUs: MS },
    ];
    const trace = happen({ alice: asks }, { faults, healAtMs });
    expect(linesOf(trace, 'inject')).toEqual([]);
    expect(linesOf(trace, 'end').at(-1)).toBe('29 end alice/10 ok 10');
    expect(trace.unmatched).toEqual([
      'pause at 20000 µs',
      'alice/9',
      'alice/9/1/request',
      'alice → echo',
      'alice/after-9',
    ]);
  });

  test('chance injects no more faults', () => {
    const always = { numerator: 1, denominator: 1, minUs: 1, maxUs: 1 };
    const chance = { delay: always, drop: null, duplicate: always, lateTimer: always };
    const trace = happen({ alice: asks }, { chance, healAtMs, link: 'datagram' });
    const times = linesOf(trace, 'inject').map((line) => Number(line.split(' ')[0]));
    expect(times.length).toBeGreaterThan(10);
    expect(Math.max(...times)).toBeLessThan(20);
    expect(linesOf(trace, 'end').length).toBe(10);
  });

  test('the probe starts, and not before', () => {
    const once: Script = function* (probe) {
      yield* probe.ask({ name: '1' });
    };
    const trace = happen({ alice: asks, probe: once }, { faults: [pauseAt(1, 'echo')], healAtMs });
    expect(linesOf(trace, 'healed', 'resume', 'call', 'end').slice(1, 5)).toEqual([
      '20 healed',
      '20 call probe/1',
      '20 resume echo',
      '21 end alice/1 ok 1',
    ]);
    expect(trace.processes).toContainEqual({ name: 'probe', role: 'probe' });
    expect(linesOf(trace, 'end')).toContain('22 end probe/1 ok 2');
  });
});
