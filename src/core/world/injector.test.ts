import { describe, expect, test } from 'vitest';
import type { Fault, When } from '../plan/fault.ts';
import { happen, linesOf, type Script } from './echo.fixture.ts';

const asks: Script = function* (alice) {
  yield* alice.ask({ name: 'a' });
};

describe('a name in the plan that does not occur in the run', () => {
  const when: When = { kind: 'at', atUs: 1 };

  test.each<[Fault, string]>([
    [{ kind: 'evict', process: 'zed', key: 'x', when }, 'zed'],
    [{ kind: 'crash', process: 'zed', when, restartAfterUs: null }, 'zed'],
    [{ kind: 'pause', process: 'zed', when, forUs: 1, clocks: 'run' }, 'zed'],
    [{ kind: 'clock', process: 'zed', when, stepUs: 1, ratePpm: 0 }, 'zed'],
    [{ kind: 'failover', process: 'zed', when, lagUs: 0 }, 'zed'],
    [{ kind: 'reset', from: 'zed', to: 'echo', when }, 'reset at 1 µs'],
    [
      {
        kind: 'pause',
        process: 'zed',
        when: { kind: 'before', point: 'alice/a' },
        forUs: 1,
        clocks: 'run',
      },
      'zed',
    ],
    [
      {
        kind: 'pause',
        process: 'alice',
        when: { kind: 'before', point: 'alice/z' },
        forUs: 1,
        clocks: 'run',
      },
      'alice/z',
    ],
    [
      {
        kind: 'crash',
        process: 'alice',
        when: { kind: 'after', point: 'alice/z' },
        restartAfterUs: 1,
      },
      'alice/z',
    ],
    [
      { kind: 'delay', which: { kind: 'message', message: 'alice/z/1/request' }, byUs: 1 },
      'alice/z/1/request',
    ],
    [{ kind: 'drop', which: { kind: 'link', from: 'zed', to: 'echo', atUs: 0 } }, 'zed → echo'],
    [{ kind: 'late-timer', which: { kind: 'timer', timer: 'alice/z' }, byUs: 1 }, 'alice/z'],
    [{ kind: 'late-timer', which: { kind: 'process', process: 'zed', atUs: 0 }, byUs: 1 }, 'zed'],
  ])('is reported: %j', (fault, name) => {
    const trace = happen({ alice: asks }, { faults: [fault] });
    expect(trace.unmatched).toEqual([name]);
    expect(linesOf(trace, 'inject')).toEqual([]);
    expect(linesOf(trace, 'end')).toEqual(['2 end alice/a ok 1']);
  });

  test('is reported for decisions and the order, too', () => {
    const trace = happen(
      { alice: asks },
      { decisions: { 'alice/z': 1 }, order: ['alice/y', 'alice/a/1/request'] },
    );
    expect(trace.unmatched).toEqual(['alice/z', 'alice/y']);
  });

  test('is not reported if every fault fired', () => {
    const faults: Fault[] = [
      { kind: 'delay', which: { kind: 'message', message: 'alice/a/1/request' }, byUs: 1 },
      { kind: 'pause', process: 'alice', when, forUs: 1, clocks: 'run' },
    ];
    expect(happen({ alice: asks }, { faults }).unmatched).toEqual([]);
  });
});
