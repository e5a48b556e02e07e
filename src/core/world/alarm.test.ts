import { describe, expect, test } from 'vitest';
import type { Fault, WhichTimer } from '../plan/fault.ts';
import { happen, linesOf, MS, type Script } from './echo.fixture.ts';

const naps: Script = function* (alice) {
  yield* alice.wait('one', 2);
  yield* alice.wait('two', 2);
};

describe('a late timer', () => {
  function lateness(which: WhichTimer): Fault {
    return { kind: 'late-timer', which, byUs: 7 * MS };
  }

  test('fires late, selected by name or as the first that its process sets', () => {
    const last = (which: WhichTimer): readonly string[] =>
      linesOf(
        happen(
          {
            alice: function* (alice) {
              yield* naps(alice);
              yield* alice.notify({ name: 'a' });
            },
          },
          { faults: [lateness(which)] },
        ),
        'inject',
        'call',
      );
    expect(last({ kind: 'timer', timer: 'alice/two' })).toEqual([
      '4 inject late-timer alice/two',
      '11 call alice/a',
    ]);
    expect(last({ kind: 'process', process: 'alice', atUs: 1 * MS })).toEqual([
      '4 inject late-timer alice/two',
      '11 call alice/a',
    ]);
    expect(last({ kind: 'process', process: 'alice', atUs: 0 })).toEqual([
      '2 inject late-timer alice/one',
      '11 call alice/a',
    ]);
  });

  test('that is cancelled before it is due is not affected', () => {
    const faults = [lateness({ kind: 'timer', timer: 'alice/a/1/timeout' })];
    const script: Script = function* (alice) {
      yield* alice.ask({ name: 'a', timeoutMs: 5 });
    };
    const trace = happen({ alice: script }, { faults });
    expect(linesOf(trace, 'inject', 'end')).toEqual(['2 end alice/a ok 1']);
    expect(trace.unmatched).toEqual(['alice/a/1/timeout']);
  });

  test('that is cancelled at the instant when it is due is not affected', () => {
    const faults = [lateness({ kind: 'timer', timer: 'alice/a/1/timeout' })];
    const script: Script = function* (alice) {
      yield* alice.ask({ name: 'a', timeoutMs: 2 });
    };
    const order = ['alice/a/1/reply', 'alice/a/1/timeout'];
    const trace = happen({ alice: script }, { faults, order });
    expect(linesOf(trace, 'inject', 'end')).toEqual(['2 end alice/a ok 1']);
    expect(trace.unmatched).toEqual(['alice/a/1/timeout']);
  });

  test('that is cancelled leaves the fault to the next timer of its process', () => {
    const faults = [lateness({ kind: 'process', process: 'alice', atUs: 0 })];
    const script: Script = function* (alice) {
      yield* alice.ask({ name: 'a', timeoutMs: 5 });
      yield* alice.wait('nap', 1);
      yield* alice.notify({ name: 'b' });
    };
    const trace = happen({ alice: script }, { faults });
    expect(linesOf(trace, 'inject', 'call')).toEqual([
      '0 call alice/a',
      '3 inject late-timer alice/nap',
      '10 call alice/b',
    ]);
    expect(trace.unmatched).toEqual([]);
  });

  test('may be a timeout', () => {
    const faults = [lateness({ kind: 'timer', timer: 'alice/a/1/timeout' })];
    const script: Script = function* (alice) {
      yield* alice.ask({ name: 'a', timeoutMs: 5 });
    };
    const decisions = { 'alice/a/1/reply': 9 * MS };
    const trace = happen({ alice: script }, { faults, decisions });
    expect(linesOf(trace, 'end')).toEqual(['10 end alice/a ok 1']);
  });

  test('is late in true time, even if its clock changes meanwhile', () => {
    const rate: Fault = {
      kind: 'clock',
      process: 'alice',
      when: { kind: 'at', atUs: 3 * MS },
      stepUs: 0,
      ratePpm: -500_000,
    };
    const script: Script = function* (alice) {
      yield* alice.wait('one', 2);
      yield* alice.notify({ name: 'a' });
    };
    const faults = [lateness({ kind: 'timer', timer: 'alice/one' }), rate];
    expect(linesOf(happen({ alice: script }, { faults }), 'call')).toEqual(['9 call alice/a']);
  });
});
