import { describe, expect, test } from 'vitest';
import { nameOf } from '../kernel/name.ts';
import type { FaultOf } from '../plan/fault.ts';
import { happen, linesOf, MS, type Script } from './echo.fixture.ts';
import { mark } from './program.ts';

type Way = Partial<Omit<FaultOf<'pause'>, 'when'>> & { readonly when: FaultOf<'pause'>['when'] };

function pauseOf(way: Way): FaultOf<'pause'> {
  return { kind: 'pause', process: 'alice', forUs: 10 * MS, clocks: 'run', ...way };
}

function at(ms: number): FaultOf<'pause'>['when'] {
  return { kind: 'at', atUs: ms * MS };
}

const asksTwice: Script = function* (alice) {
  yield* alice.ask({ name: 'a' });
  yield* alice.ask({ name: 'b' });
};

describe('a paused process', () => {
  test('handles no message before it resumes, while its server continues', () => {
    const trace = happen({ alice: asksTwice }, { faults: [pauseOf({ when: at(1.5) })] });
    expect(linesOf(trace, 'inject', 'resume', 'do', 'get', 'end')).toEqual([
      '1 get alice/a/1/request',
      '1 do alice/a total 1 count 1',
      '1.5 inject pause alice',
      '11.5 resume alice',
      '11.5 get alice/a/1/reply',
      '11.5 end alice/a ok 1',
      '12.5 get alice/b/1/request',
      '12.5 do alice/b total 2 count 2',
      '13.5 get alice/b/1/reply',
      '13.5 end alice/b ok 2',
    ]);
  });

  test('runs no timer before it resumes', () => {
    const sleeper: Script = function* (alice) {
      yield* alice.wait('nap', 5);
      yield* alice.ask({ name: 'a' });
    };
    const trace = happen({ alice: sleeper }, { faults: [pauseOf({ when: at(1) })] });
    expect(linesOf(trace, 'send')[0]).toBe('11 send alice/a/1/request');
  });

  test('has fixed but not sent its request if the pause is before an operation', () => {
    const readsClock: Script = function* (alice) {
      yield* alice.wait('nap', 3);
      yield* alice.ask({ name: 'a', add: alice.self.monotonicUs() });
    };
    const when = { kind: 'before', point: 'alice/a' } as const;
    const trace = happen({ alice: readsClock }, { faults: [pauseOf({ when })] });
    expect(linesOf(trace, 'inject', 'call', 'do')).toEqual([
      '3 inject pause alice',
      '13 call alice/a',
      '14 do alice/a total 3000 count 1',
    ]);
  });

  test('has got its answer and does nothing more if the pause is after an operation', () => {
    const when = { kind: 'after', point: 'alice/a' } as const;
    const trace = happen({ alice: asksTwice }, { faults: [pauseOf({ when })] });
    expect(linesOf(trace, 'inject', 'call', 'end').slice(1, 4)).toEqual([
      '2 end alice/a ok 1',
      '2 inject pause alice',
      '12 call alice/b',
    ]);
  });

  test.each(['before', 'after'] as const)('stops at a mark if the pause is %s it', (side) => {
    const marks: Script = function* (alice) {
      yield* mark(nameOf('alice'), 'checked');
      yield* alice.ask({ name: 'a' });
    };
    const when = { kind: side, point: 'alice/checked' };
    const trace = happen({ alice: marks }, { faults: [pauseOf({ when })] });
    expect(linesOf(trace, 'mark', 'inject', 'call')).toEqual([
      '0 mark alice/checked',
      '0 inject pause alice',
      '10 call alice/a',
    ]);
  });

  test('resumes with its interrupted step, then the messages in order, then the due timers', () => {
    const busy: Script = function* (alice) {
      const first = yield* alice.notify({ name: 'first' });
      const second = yield* alice.notify({ name: 'second', timeoutMs: 6 });
      yield* alice.ask({ name: 'third' });
      yield* alice.settle(first);
      yield* alice.settle(second);
    };
    // The replies of the first two wait; the timeout of the second is due during the pause, too
    // late.
    const when = { kind: 'before', point: 'alice/third' } as const;
    const decisions = { 'alice/second/1/request': 5 * MS, 'alice/second/1/reply': 3 * MS };
    const setup = { faults: [pauseOf({ when })], decisions, pool: 2 };
    expect(linesOf(happen({ alice: busy }, setup), 'resume', 'call', 'end')).toEqual([
      '0 call alice/first',
      '0 call alice/second',
      '10 resume alice',
      '10 call alice/third',
      '10 end alice/first ok 1',
      '10 end alice/second ok 2',
      '12 end alice/third ok 3',
    ]);
  });

  test('gets waiting messages in the order of arrival, not of sending', () => {
    const hears: Script = function* (alice) {
      for (const name of ['a', 'b', 'c']) yield* alice.notify({ name });
      yield* alice.wait('nap', 100);
    };
    const decisions = {
      'alice/a/1/reply': 5 * MS,
      'alice/b/1/reply': 4 * MS,
      'alice/c/1/reply': 1,
    };
    const faults = [pauseOf({ when: at(0.5) })];
    const trace = happen({ alice: hears }, { faults, decisions, pool: 3 });
    expect(linesOf(trace, 'end')).toEqual([
      '10.5 end alice/c ok 3',
      '10.5 end alice/b ok 2',
      '10.5 end alice/a ok 1',
    ]);
  });

  test('does not hold back messages already sent', () => {
    const faults = [pauseOf({ when: at(0.5) })];
    const trace = happen({ alice: asksTwice }, { faults });
    expect(linesOf(trace, 'do')[0]).toBe('1 do alice/a total 1 count 1');
  });

  test('stays paused until the last of its overlapping pauses ends', () => {
    const until = (...pauses: readonly (readonly [number, number])[]): string | undefined => {
      const faults = pauses.map(([ms, forMs]) => pauseOf({ when: at(ms), forUs: forMs * MS }));
      return linesOf(happen({ alice: asksTwice }, { faults }), 'resume', 'end').join(', ');
    };
    const b = 'end alice/b ok 2';
    expect(until([1, 10], [5, 10])).toBe(`15 resume alice, 15 end alice/a ok 1, 17 ${b}`);
    expect(until([1, 20], [5, 10])).toBe(`21 resume alice, 21 end alice/a ok 1, 23 ${b}`);
    expect(until([1, 10], [1, 10])).toBe(`11 resume alice, 11 end alice/a ok 1, 13 ${b}`);
  });

  test('can be paused again while it catches up', () => {
    const hears: Script = function* (alice) {
      yield* alice.notify({ name: 'a' });
      yield* alice.notify({ name: 'b' });
      yield* alice.wait('nap', 100);
    };
    const again = pauseOf({ when: { kind: 'after', point: 'alice/a' } });
    const trace = happen({ alice: hears }, { faults: [pauseOf({ when: at(1) }), again] });
    expect(linesOf(trace, 'end')).toEqual(['11 end alice/a ok 1', '21 end alice/b ok 2']);
  });

  test('learns only when it resumes that its connection is lost', () => {
    const when = at(0.2);
    const crash = { kind: 'crash', process: 'echo', when, restartAfterUs: 1 } as const;
    const trace = happen({ alice: asksTwice }, { faults: [pauseOf({ when: at(0.5) }), crash] });
    expect(linesOf(trace, 'resume', 'end')).toEqual([
      '10.5 resume alice',
      '10.5 end alice/a info',
      '12.5 end alice/b ok 1',
    ]);
  });

  test('is paused once at a point that it passes twice', () => {
    const marks: Script = function* (alice) {
      yield* mark(nameOf('alice'), 'round');
      yield* mark(nameOf('alice'), 'round');
      yield* alice.ask({ name: 'a' });
    };
    const when = { kind: 'after', point: 'alice/round' } as const;
    const trace = happen({ alice: marks }, { faults: [pauseOf({ when })] });
    expect(linesOf(trace, 'call')).toEqual(['10 call alice/a']);
  });

  test('a paused server answers when it resumes, in the order of arrival', () => {
    const faults = [pauseOf({ process: 'echo', when: at(0.5) })];
    const once: Script = function* (actor) {
      yield* actor.ask({ name: 'a' });
    };
    const trace = happen({ alice: once, bob: once }, { faults });
    expect(linesOf(trace, 'do', 'end')).toEqual([
      '10.5 do alice/a total 1 count 1',
      '10.5 do bob/a total 2 count 2',
      '11.5 end alice/a ok 1',
      '11.5 end bob/a ok 2',
    ]);
  });
});

describe('the clocks of a paused process', () => {
  const readsClock: Script = function* (alice) {
    yield* alice.wait('nap', 5);
    yield* alice.ask({ name: 'mono', add: alice.self.monotonicUs() });
    yield* alice.ask({ name: 'wall', add: alice.self.wallUs() });
  };

  function times(
    clocks: FaultOf<'pause'>['clocks'],
    ...more: readonly FaultOf<'pause'>[]
  ): readonly string[] {
    const faults = [pauseOf({ when: at(1), clocks }), ...more];
    return linesOf(happen({ alice: readsClock }, { faults }), 'do');
  }

  test('run on during a garbage collection: time has passed, and the timer is due at once', () => {
    expect(times('run')).toEqual([
      '12 do alice/mono total 11000 count 1',
      '14 do alice/wall total 24000 count 2',
    ]);
  });

  test('freeze with a virtual machine: no time has passed, and the timer waits on', () => {
    expect(times('freeze')).toEqual([
      '16 do alice/mono total 5000 count 1',
      '18 do alice/wall total 12000 count 2',
    ]);
  });

  test('lose the time of overlapping suspensions once', () => {
    const second = pauseOf({ when: at(6), clocks: 'freeze' });
    expect(times('freeze', second)[0]).toBe('21 do alice/mono total 5000 count 1');
  });

  test('run again after the machine crashes while suspended', () => {
    const naps: Script = function* (alice) {
      yield* alice.wait(`nap-${alice.from}`, alice.from === 0 ? 50 : 5);
      yield* alice.ask({ name: 'mono', add: alice.self.monotonicUs() });
    };
    const when = at(2);
    const crash = { kind: 'crash', process: 'alice', when, restartAfterUs: 1 * MS } as const;
    const faults = [pauseOf({ when: at(1), clocks: 'freeze', forUs: 90 * MS }), crash];
    const trace = happen({ alice: naps }, { faults });
    // Restarted at 3 with its clock at 2. It never began a section, so it naps 50 again.
    expect(linesOf(trace, 'do')).toEqual(['54 do alice/mono total 52000 count 1']);
  });
});
