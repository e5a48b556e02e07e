import { describe, expect, test } from 'vitest';
import type { Fault, Which } from '../plan/fault.ts';
import { happen, linesOf, MS, type Script } from './echo.fixture.ts';

function message(name: string): Which {
  return { kind: 'message', message: name };
}

function delay(which: Which, ms: number): Fault {
  return { kind: 'delay', which, byUs: ms * MS };
}

/** Sends without waiting for earlier calls, so that several are in flight. */
function sends(...names: readonly string[]): Script {
  return function* (alice) {
    const calls = [];
    for (const name of names) {
      calls.push(yield* alice.notify({ name }));
      yield* alice.wait(`after-${name}`, 1);
    }
    for (const call of calls) yield* alice.settle(call);
  };
}

const asks: Script = function* (alice) {
  yield* alice.ask({ name: 'a' });
};

describe('a delay', () => {
  const faults = [delay(message('alice/a/1/request'), 5)];

  test('makes only the named message late', () => {
    const trace = happen({ alice: asks, bob: asks }, { faults });
    expect(linesOf(trace, 'inject', 'do')).toEqual([
      '0 inject delay alice/a/1/request',
      '1 do bob/a total 1 count 1',
      '6 do alice/a total 2 count 2',
    ]);
  });

  test('of a reply does not affect the server', () => {
    const trace = happen({ alice: asks }, { faults: [delay(message('alice/a/1/reply'), 5)] });
    expect(linesOf(trace, 'do', 'end')).toEqual([
      '1 do alice/a total 1 count 1',
      '7 end alice/a ok 1',
    ]);
  });

  test('affects the first message on a link after its time, once', () => {
    const which = { kind: 'link', from: 'alice', to: 'echo', atUs: 1 * MS } as const;
    const trace = happen({ alice: sends('a', 'b', 'c') }, { faults: [delay(which, 5)], pool: 3 });
    expect(linesOf(trace, 'inject', 'do')).toEqual([
      '1 do alice/a total 1 count 1',
      '1 inject delay alice/b/1/request',
      '3 do alice/c total 2 count 2',
      '7 do alice/b total 3 count 3',
    ]);
  });

  test('holds back later messages on the same connection', () => {
    const trace = happen({ alice: sends('a', 'b') }, { faults });
    expect(linesOf(trace, 'get').slice(0, 2)).toEqual([
      '6 get alice/a/1/request',
      '6 get alice/b/1/request',
    ]);
  });

  test('does not hold back another connection of the pool', () => {
    const trace = happen({ alice: sends('a', 'b') }, { faults, pool: 2 });
    expect(linesOf(trace, 'do')).toEqual([
      '2 do alice/b total 1 count 1',
      '6 do alice/a total 2 count 2',
    ]);
  });

  test('does not hold back later datagrams', () => {
    const trace = happen({ alice: sends('a', 'b') }, { faults, link: 'datagram' });
    expect(linesOf(trace, 'do').map((line) => line.slice(0, 12))).toEqual([
      '2 do alice/b',
      '6 do alice/a',
    ]);
  });
});

describe('a connection', () => {
  test('keeps the order of tied messages on every seed, and datagrams do not', () => {
    const both: Script = function* (alice) {
      yield* alice.notify({ name: 'a' });
      yield* alice.notify({ name: 'b' });
    };
    const firsts = (link: 'connection' | 'datagram'): Set<string | undefined> =>
      new Set(
        Array.from({ length: 20 }, (_, seed) => {
          const trace = happen({ alice: both }, { chance: { seed }, link });
          return linesOf(trace, 'get')[0];
        }),
      );
    expect([...firsts('connection')]).toEqual(['1 get alice/a/1/request']);
    expect(firsts('datagram').size).toBe(2);
  });

  test('keeps its order even if the plan asks for another', () => {
    const both: Script = function* (alice) {
      yield* alice.notify({ name: 'a' });
      yield* alice.notify({ name: 'b' });
    };
    const order = ['alice/b/1/request'];
    const first = (link: 'connection' | 'datagram'): string | undefined =>
      linesOf(happen({ alice: both }, { order, link }), 'get')[0];
    expect(first('connection')).toBe('1 get alice/a/1/request');
    expect(first('datagram')).toBe('1 get alice/b/1/request');
  });

  test('duplicates no message: such a fault stays unmatched', () => {
    const double: Fault = { kind: 'duplicate', which: message('alice/a/1/request'), byUs: MS };
    const trace = happen({ alice: asks }, { faults: [double] });
    expect(linesOf(trace, 'do', 'inject')).toEqual(['1 do alice/a total 1 count 1']);
    expect(trace.unmatched).toEqual(['alice/a/1/request']);
  });
});

describe('a drop', () => {
  test('on a connection resets it: all its pending calls end unknown', () => {
    const faults: Fault[] = [{ kind: 'drop', which: message('alice/b/1/request') }];
    const decisions = { 'alice/a/1/request': 9 * MS };
    const trace = happen({ alice: sends('a', 'b') }, { faults, decisions });
    expect(linesOf(trace, 'inject', 'lose', 'do', 'end')).toEqual([
      '1 inject drop alice/b/1/request',
      '1 lose alice/b/1/request drop',
      '2 end alice/a info',
      '2 end alice/b info',
      '9 do alice/a total 1 count 1',
      '10 lose alice/a/1/reply reset',
    ]);
  });

  test('lets the new connection overtake messages on the old one', () => {
    const faults: Fault[] = [{ kind: 'drop', which: message('alice/b/1/request') }];
    const decisions = { 'alice/a/1/request': 9 * MS };
    const trace = happen({ alice: sends('a', 'b', 'c') }, { faults, decisions });
    expect(linesOf(trace, 'do')).toEqual([
      '3 do alice/c total 1 count 1',
      '9 do alice/a total 2 count 2',
    ]);
  });

  test('of a reply leaves the call executed but unknown', () => {
    const faults: Fault[] = [{ kind: 'drop', which: message('alice/a/1/reply') }];
    const trace = happen({ alice: asks }, { faults });
    expect(linesOf(trace, 'do', 'end')).toEqual([
      '1 do alice/a total 1 count 1',
      '2 end alice/a info',
    ]);
  });

  test('of a datagram affects no other, and its call waits for the timeout', () => {
    const faults: Fault[] = [{ kind: 'drop', which: message('alice/a/1/request') }];
    const script: Script = function* (alice) {
      const b = yield* alice.notify({ name: 'b' });
      yield* alice.ask({ name: 'a', timeoutMs: 7 });
      yield* alice.settle(b);
    };
    const trace = happen({ alice: script }, { faults, link: 'datagram' });
    expect(linesOf(trace, 'end')).toEqual(['2 end alice/b ok 1', '7 end alice/a info']);
  });

  test('excludes other faults on the same message', () => {
    const which = message('alice/a/1/request');
    const faults: Fault[] = [delay(which, 3), { kind: 'drop', which }];
    const trace = happen({ alice: asks }, { faults });
    expect(linesOf(trace, 'inject')).toEqual(['0 inject drop alice/a/1/request']);
    expect(trace.unmatched).toEqual(['alice/a/1/request']);
  });
});

describe('a duplicate', () => {
  const which = message('alice/a/1/request');
  const double: Fault = { kind: 'duplicate', which, byUs: 4 * MS };

  test('of a datagram is executed twice, and the reply to the copy is discarded', () => {
    const trace = happen({ alice: asks }, { faults: [double], link: 'datagram' });
    expect(linesOf(trace)).toEqual([
      '0 call alice/a',
      '0 send alice/a/1/request',
      '0 inject duplicate alice/a/1/request',
      '1 get alice/a/1/request',
      '1 do alice/a total 1 count 1',
      '1 send alice/a/1/reply',
      '2 get alice/a/1/reply',
      '2 end alice/a ok 1',
      '5 get alice/a/1/request again',
      '5 do alice/a total 2 count 2',
      '1000 healed',
    ]);
  });

  test('of a late datagram arrives after the original', () => {
    const faults = [double, delay(which, 10)];
    const trace = happen({ alice: asks }, { faults, link: 'datagram' });
    expect(linesOf(trace, 'get')).toEqual([
      '11 get alice/a/1/request',
      '12 get alice/a/1/reply',
      '15 get alice/a/1/request again',
    ]);
  });
});

describe('a reset', () => {
  const faults: Fault[] = [
    { kind: 'reset', from: 'alice', to: 'echo', when: { kind: 'at', atUs: 1.5 * MS } },
  ];

  test('ends pending calls as unknown at once, although a request in flight arrives', () => {
    const decisions = { 'alice/a/1/request': 9 * MS };
    const trace = happen({ alice: asks }, { faults, decisions });
    expect(linesOf(trace, 'inject', 'end', 'do')).toEqual([
      '1.5 inject reset alice echo',
      '1.5 end alice/a info',
      '9 do alice/a total 1 count 1',
    ]);
  });

  test('discards a reply in flight', () => {
    const trace = happen({ alice: asks }, { faults });
    expect(linesOf(trace, 'do', 'lose', 'end')).toEqual([
      '1 do alice/a total 1 count 1',
      '1.5 end alice/a info',
      '2 lose alice/a/1/reply reset',
    ]);
  });

  test('lets the new connection overtake the old one', () => {
    const decisions = { 'alice/a/1/request': 9 * MS };
    const trace = happen({ alice: sends('a', 'x', 'b') }, { faults, decisions });
    expect(linesOf(trace, 'do')).toEqual([
      '3 do alice/b total 1 count 1',
      '9 do alice/a total 2 count 2',
      '9 do alice/x total 3 count 3',
    ]);
  });

  test('works from either end, before and after a point', () => {
    const ends = (['before', 'after'] as const).map((kind) => {
      const when = { kind, point: 'alice/b' };
      const script: Script = function* (alice) {
        const a = yield* alice.notify({ name: 'a' });
        yield* alice.ask({ name: 'b' });
        yield* alice.settle(a);
      };
      const decisions = { 'alice/a/1/reply': 9 * MS };
      const setup = { faults: [{ kind: 'reset', from: 'echo', to: 'alice', when } as const] };
      return linesOf(happen({ alice: script }, { ...setup, decisions, pool: 2 }), 'end');
    });
    expect(ends).toEqual([
      ['0 end alice/a info', '2 end alice/b ok 2'],
      ['2 end alice/b ok 2', '2 end alice/a info'],
    ]);
  });

  test('does not fire if no connection is open, or if the link carries datagrams', () => {
    const early: Fault = { kind: 'reset', from: 'bob', to: 'echo', when: { kind: 'at', atUs: 1 } };
    const idle: Script = function* (bob) {
      yield* bob.wait('nap', 5);
    };
    const quiet = happen({ bob: idle }, { faults: [early] });
    expect(linesOf(quiet, 'inject')).toEqual([]);
    expect(quiet.unmatched).toEqual(['reset at 1 µs']);
    const datagrams = happen({ alice: asks }, { faults, link: 'datagram' });
    expect(linesOf(datagrams, 'inject', 'end')).toEqual(['2 end alice/a ok 1']);
  });
});

test('the record of a delay ends when its message arrives, and that of a drop has no end', () => {
  const which = message('alice/a/1/request');
  const noted = (fault: Fault): readonly (number | null)[] =>
    happen({ alice: asks }, { faults: [fault] }).events.flatMap((event) =>
      event.kind === 'fault' ? [event.atUs, event.untilUs, event.amount] : [],
    );
  expect(noted(delay(which, 5))).toEqual([0, 6 * MS, 5 * MS]);
  expect(noted({ kind: 'drop', which }).slice(0, 2)).toEqual([0, null]);
});
