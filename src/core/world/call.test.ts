import { describe, expect, test } from 'vitest';
import type { Fault } from '../plan/fault.ts';
import { happen, linesOf, MS, type Script } from './echo.fixture.ts';

describe('a call', () => {
  test('that times out is unknown, and its late reply changes nothing', () => {
    const script: Script = function* (alice) {
      const call = yield* alice.ask({ name: 'a', timeoutMs: 5 });
      yield* alice.wait('nap', 20);
      yield* alice.notify({ name: `${call.state}-${call.reply === null}` });
    };
    const decisions = { 'alice/a/1/reply': 9 * MS };
    const trace = happen({ alice: script }, { decisions });
    expect(linesOf(trace, 'do', 'end', 'lose', 'call')).toEqual([
      '0 call alice/a',
      '1 do alice/a total 1 count 1',
      '5 end alice/a info',
      '10 lose alice/a/1/reply late',
      '25 call alice/unknown-true',
      '26 do alice/unknown-true total 2 count 2',
      '27 end alice/unknown-true ok 2',
    ]);
  });

  test('measures its timeout on the clock of its client', () => {
    const script: Script = function* (alice) {
      yield* alice.ask({ name: 'a', timeoutMs: 5 });
    };
    const decisions = { 'alice/a/1/reply': 50 * MS };
    const when = { kind: 'at', atUs: 0 } as const;
    const rate: Fault = { kind: 'clock', process: 'alice', when, stepUs: 0, ratePpm: -500_000 };
    const trace = happen({ alice: script }, { decisions, faults: [rate] });
    // The call leaves at 0, before the first event, when the clock still ran at the true rate.
    expect(linesOf(trace, 'end')).toEqual(['10 end alice/a info']);
  });

  test('without a timeout waits forever', () => {
    const script: Script = function* (alice) {
      yield* alice.ask({ name: 'a' });
    };
    const lost: Fault = { kind: 'drop', which: { kind: 'message', message: 'alice/a/1/request' } };
    const trace = happen({ alice: script }, { faults: [lost], link: 'datagram' });
    expect(linesOf(trace, 'end')).toEqual([]);
    expect(trace.ending).toEqual({ kind: 'complete' });
  });

  test('is retried under its own name on the next connection while its outcome is unknown', () => {
    const script: Script = function* (alice) {
      yield* alice.ask({ name: 'a', timeoutMs: 5, tries: 3 });
    };
    const decisions = { 'alice/a/1/request': 7 * MS, 'alice/a/2/request': 20 * MS };
    const trace = happen({ alice: script }, { decisions, pool: 2 });
    expect(linesOf(trace, 'call', 'send', 'do', 'end', 'lose')).toEqual([
      '0 call alice/a',
      '0 send alice/a/1/request',
      '5 send alice/a/2/request',
      '7 do alice/a total 1 count 1',
      '7 send alice/a/1/reply',
      '8 lose alice/a/1/reply late',
      '10 send alice/a/3/request',
      '11 do alice/a total 2 count 2',
      '11 send alice/a/3/reply',
      '12 end alice/a ok 2',
      '25 do alice/a total 3 count 3',
      '25 send alice/a/2/reply',
      '26 lose alice/a/2/reply late',
    ]);
  });

  test('is unknown if its last try failed and an earlier one may have been executed', () => {
    const down = (ms: number): Fault => ({
      kind: 'crash',
      process: 'echo',
      when: { kind: 'at', atUs: ms * MS },
      restartAfterUs: 10 * MS,
    });
    const script: Script = function* (alice) {
      yield* alice.wait('nap', 3);
      yield* alice.ask({ name: 'a', tries: 2 });
    };
    const outcomes = [3.5, 1].map((ms) => {
      const trace = happen({ alice: script }, { faults: [down(ms)] });
      return linesOf(trace, 'end');
    });
    expect(outcomes).toEqual([['6.5 end alice/a info'], ['7 end alice/a fail']]);
  });

  test('carries copies, so that a server may change its request', () => {
    const which = { kind: 'message', message: 'alice/a/1/request' } as const;
    const double: Fault = { kind: 'duplicate', which, byUs: 5 * MS };
    const script: Script = function* (alice) {
      const call = yield* alice.ask({ name: 'a', add: 3 });
      if (call.reply !== null) call.reply.total = 77;
      yield* alice.wait('nap', 10);
      yield* alice.ask({ name: `asked-${call.setting.request.add}` });
    };
    const trace = happen({ alice: script }, { faults: [double], link: 'datagram' });
    expect(linesOf(trace, 'do')).toEqual([
      '1 do alice/a total 3 count 1',
      '6 do alice/a total 6 count 2',
      '13 do alice/asked-3 total 7 count 3',
    ]);
    const bodies = trace.events.flatMap((event) => (event.kind === 'send' ? [event.body] : []));
    expect(bodies.slice(0, 2)).toEqual([{ add: 3 }, { total: 3, count: 1 }]);
  });

  test('carries the request as it was sent, even if its client changes it later', () => {
    const script: Script = function* (alice) {
      const call = yield* alice.notify({ name: 'a', add: 3 });
      call.setting.request.add = 50;
      yield* alice.settle(call);
    };
    expect(linesOf(happen({ alice: script }), 'do')).toEqual(['1 do alice/a total 3 count 1']);
  });
});
