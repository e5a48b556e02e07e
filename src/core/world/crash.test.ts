import { describe, expect, test } from 'vitest';
import { nameOf } from '../kernel/name.ts';
import type { Fault, FaultOf, When } from '../plan/fault.ts';
import { type Actor, happen, linesOf, MS, type Script } from './echo.fixture.ts';
import type { Program } from './program.ts';

function at(ms: number): When {
  return { kind: 'at', atUs: ms * MS };
}

function crashOf(part: Partial<FaultOf<'crash'>> & { readonly when: When }): FaultOf<'crash'> {
  return { kind: 'crash', process: 'echo', restartAfterUs: 10 * MS, ...part };
}

/** Asks every 3 ms. */
const asks: Script = function* (alice) {
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    yield* alice.ask({ name });
    yield* alice.wait(`after-${name}`, 1);
  }
};

describe('a server that crashes', () => {
  test('loses its volatile state and keeps its durable one', () => {
    const faults = [crashOf({ when: at(2.5), restartAfterUs: 0.1 * MS })];
    const trace = happen({ alice: asks }, { faults });
    expect(linesOf(trace, 'inject', 'restart', 'recovered', 'do').slice(0, 5)).toEqual([
      '1 do alice/a total 1 count 1',
      '2.5 inject crash echo',
      '2.6 restart echo',
      '2.6 recovered total 1',
      '4 do alice/b total 2 count 1',
    ]);
  });

  test('executes nothing while it is down: such calls fail', () => {
    const faults = [crashOf({ when: at(2.5), restartAfterUs: 4 * MS })];
    const trace = happen({ alice: asks }, { faults });
    expect(linesOf(trace, 'lose', 'end', 'do').slice(2, 6)).toEqual([
      '4 lose alice/b/1/request crash',
      '5 end alice/b fail',
      '7 do alice/c total 2 count 1',
      '8 end alice/c ok 2',
    ]);
  });

  test('leaves pending calls unknown', () => {
    const faults = [crashOf({ when: at(1.5), restartAfterUs: 1 })];
    const trace = happen({ alice: asks }, { faults });
    expect(linesOf(trace, 'end', 'do').slice(0, 2)).toEqual([
      '1 do alice/a total 1 count 1',
      '2.5 end alice/a info',
    ]);
  });

  test('loses messages to its previous incarnation, except datagrams', () => {
    const faults = [crashOf({ when: at(0.2), restartAfterUs: 0.2 * MS })];
    const first = (link: 'connection' | 'datagram'): readonly string[] =>
      linesOf(happen({ alice: asks }, { faults, link }), 'lose', 'do', 'end').slice(0, 2);
    expect(first('connection')).toEqual(['1 lose alice/a/1/request crash', '1.2 end alice/a info']);
    expect(first('datagram')).toEqual(['1 do alice/a total 1 count 1', '2 end alice/a ok 1']);
  });

  test('loses the messages that waited for it during a pause', () => {
    const pause: Fault = {
      kind: 'pause',
      process: 'echo',
      when: at(0.5),
      forUs: 50 * MS,
      clocks: 'run',
    };
    const faults = [pause, crashOf({ when: at(3), restartAfterUs: 2 * MS })];
    const trace = happen({ alice: asks }, { faults });
    expect(linesOf(trace, 'lose', 'end', 'restart', 'do').slice(0, 4)).toEqual([
      '3 lose alice/a/1/request crash',
      '4 end alice/a info',
      '5 restart echo',
      '6 do alice/b total 1 count 1',
    ]);
  });

  test('can crash at a point of a client', () => {
    const faults = [
      crashOf({ when: { kind: 'before', point: 'alice/b' }, restartAfterUs: 5 * MS }),
    ];
    const trace = happen({ alice: asks }, { faults });
    expect(linesOf(trace, 'inject', 'end').slice(1, 3)).toEqual([
      '3 inject crash echo',
      '5 end alice/b fail',
    ]);
  });

  test('restarts when the world heals at the latest', () => {
    for (const restartAfterUs of [null, 500 * MS]) {
      const trace = happen(
        { alice: asks },
        { faults: [crashOf({ when: at(1), restartAfterUs })], healAtMs: 40 },
      );
      expect(linesOf(trace, 'restart', 'healed')).toEqual(['40 healed', '40 restart echo']);
    }
  });

  test('leaves a datagram unanswered, without an error', () => {
    const faults = [crashOf({ when: at(0.5), restartAfterUs: null })];
    const trace = happen({ alice: asks }, { faults, link: 'datagram' });
    expect(linesOf(trace, 'lose', 'end')).toEqual(['1 lose alice/a/1/request crash']);
  });

  test('cannot be paused while it is down', () => {
    const pause: Fault = {
      kind: 'pause',
      process: 'echo',
      when: at(5),
      forUs: 50 * MS,
      clocks: 'run',
    };
    const trace = happen({ alice: asks }, { faults: [crashOf({ when: at(2.5) }), pause] });
    expect(linesOf(trace, 'do')[1]).toBe('13 do alice/e total 2 count 1');
    expect(trace.unmatched).toEqual(['pause at 5000 µs']);
  });

  test('cannot crash again while it is down', () => {
    const faults = [crashOf({ when: at(1) }), crashOf({ when: at(5) })];
    const trace = happen({ alice: asks }, { faults });
    expect(linesOf(trace, 'inject', 'restart')).toEqual(['1 inject crash echo', '11 restart echo']);
    expect(trace.unmatched).toEqual(['crash at 5000 µs']);
  });
});

describe('a client that crashes', () => {
  /** One section per name; a restart continues after the sections that began. */
  function sections(work: (alice: Actor, name: string) => Program<void>): Script {
    return function* (alice) {
      for (const name of ['a', 'b', 'c'].slice(alice.from)) {
        alice.self.beginSection(nameOf(name));
        yield* work(alice, name);
      }
    };
  }
  const askEach = sections(function* (alice, name) {
    yield* alice.ask({ name });
  });
  const crash = { process: 'alice', when: at(3.5) } as const;

  test('continues with its next section after a restart', () => {
    const trace = happen({ alice: askEach }, { faults: [crashOf(crash)] });
    expect(linesOf(trace, 'call', 'end', 'restart', 'inject')).toEqual([
      '0 call alice/a',
      '2 end alice/a ok 1',
      '2 call alice/b',
      '3.5 inject crash alice',
      '13.5 restart alice',
      '13.5 call alice/c',
      '15.5 end alice/c ok 3',
    ]);
  });

  test('never learns the outcome of its pending call, which is executed', () => {
    const faults = [crashOf({ ...crash, restartAfterUs: 0.2 * MS })];
    const decisions = { 'alice/b/1/request': 3 * MS };
    const trace = happen({ alice: askEach }, { faults, decisions });
    expect(linesOf(trace, 'do', 'lose', 'end')).toEqual([
      '1 do alice/a total 1 count 1',
      '2 end alice/a ok 1',
      '4.7 do alice/c total 2 count 2',
      '5 do alice/b total 3 count 3',
      '5.7 end alice/c ok 2',
      '6 lose alice/b/1/reply reset',
    ]);
  });

  test.each(['connection', 'datagram'] as const)(
    'gets nothing of its previous incarnation by %s, timer or notice',
    (link) => {
      const retries = sections(function* (alice, name) {
        yield* alice.ask({ name, timeoutMs: 4, tries: 3 });
      });
      // The server crashes first, so that its notice reaches the next incarnation of the client.
      const server = crashOf({ when: at(3.2), restartAfterUs: 0.1 * MS });
      const faults = [server, crashOf({ ...crash, restartAfterUs: 0.1 * MS })];
      const trace = happen({ alice: retries }, { faults, link });
      expect(linesOf(trace, 'call', 'end', 'send').filter((line) => line.includes('/b'))).toEqual([
        '2 call alice/b',
        '2 send alice/b/1/request',
        '3 send alice/b/1/reply',
      ]);
      expect(linesOf(trace, 'end').at(-1)).toBe('5.6 end alice/c ok 3');
    },
  );

  test('stays down after the world heals', () => {
    for (const restartAfterUs of [null, 50 * MS]) {
      const faults = [crashOf({ ...crash, restartAfterUs })];
      const trace = happen({ alice: askEach }, { faults, healAtMs: 20 });
      expect(linesOf(trace, 'restart', 'call').at(-1)).toBe('2 call alice/b');
      const crashed = trace.events.find((event) => event.kind === 'fault');
      expect(crashed).toMatchObject({ fault: 'crash', untilUs: null });
    }
  });

  test.each(['before', 'after'] as const)('can crash %s its own operation', (kind) => {
    const faults = [crashOf({ process: 'alice', when: { kind, point: 'alice/b' } })];
    const trace = happen({ alice: askEach }, { faults });
    const done = kind === 'before' ? [] : ['3 do alice/b total 2 count 2'];
    const last =
      kind === 'before' ? '13 do alice/c total 2 count 2' : '15 do alice/c total 3 count 3';
    expect(linesOf(trace, 'do').slice(1)).toEqual([...done, last]);
  });
});

describe('a failover', () => {
  function failover(ms: number, lagMs: number): Fault {
    return { kind: 'failover', process: 'echo', when: at(ms), lagUs: lagMs * MS };
  }

  test('restores the state that was durable one lag ago', () => {
    // The requests are handled at 1, 4, 7 and 10.
    const totals = [0, 1.4, 1.6, 4.6, 100].map((lag) =>
      linesOf(happen({ alice: asks }, { faults: [failover(8.5, lag)] }), 'recovered').at(0),
    );
    expect(totals).toEqual([3, 3, 2, 1, 0].map((total) => `8.5 recovered total ${total}`));
  });

  test('discards all later state for good', () => {
    const faults = [failover(8.5, 5), failover(8.6, 2)];
    const trace = happen({ alice: asks }, { faults });
    expect(linesOf(trace, 'recovered')).toEqual(['8.5 recovered total 1', '8.6 recovered total 1']);
  });

  test('loses volatile state and leaves pending calls unknown', () => {
    const trace = happen({ alice: asks }, { faults: [failover(4.5, 0)] });
    expect(linesOf(trace, 'do', 'end').slice(2, 5)).toEqual([
      '4 do alice/b total 2 count 2',
      '5.5 end alice/b info',
      '7.5 do alice/c total 3 count 1',
    ]);
  });

  test('replaces a paused or crashed server by a running replica', () => {
    const pause: Fault = {
      kind: 'pause',
      process: 'echo',
      when: at(3.5),
      forUs: 500 * MS,
      clocks: 'run',
    };
    const crash = crashOf({ when: at(3.5), restartAfterUs: 20 * MS });
    const next = [pause, crash].map((first) => {
      const trace = happen({ alice: asks }, { faults: [first, failover(5.4, 0)] });
      expect(linesOf(trace, 'restart', 'resume')).toEqual([]);
      return linesOf(trace, 'do')[1];
    });
    // A paused server lets its client wait until the failover; a crashed one does not.
    expect(next).toEqual(['8.4 do alice/c total 2 count 1', '6.5 do alice/c total 2 count 1']);
  });

  test('does not undo an eviction', () => {
    const evict: Fault = { kind: 'evict', process: 'echo', key: 'x', when: at(5) };
    const trace = happen({ alice: asks }, { faults: [evict, failover(5.5, 0)] });
    expect(linesOf(trace, 'recovered')).toEqual(['5.5 recovered total 0']);
  });

  test('of a client does not fire', () => {
    const fault: Fault = { kind: 'failover', process: 'alice', when: at(1), lagUs: 0 };
    const trace = happen({ alice: asks }, { faults: [fault] });
    expect(linesOf(trace, 'inject')).toEqual([]);
    expect(trace.unmatched).toEqual(['failover at 1000 µs']);
  });
});

describe('an eviction', () => {
  function evictOf(key: string, when: When): Fault {
    return { kind: 'evict', process: 'echo', key, when };
  }

  test.each([at(2.5), { kind: 'after', point: 'alice/a' } as const])(
    'makes a server forget one key',
    (when) => {
      const trace = happen({ alice: asks }, { faults: [evictOf('x', when)] });
      expect(linesOf(trace, 'do').slice(0, 2)).toEqual([
        '1 do alice/a total 1 count 1',
        '4 do alice/b total 1 count 2',
      ]);
    },
  );

  test('of a missing key does not fire', () => {
    const trace = happen({ alice: asks }, { faults: [evictOf('y', at(2.5))] });
    expect(linesOf(trace, 'inject')).toEqual([]);
    expect(trace.unmatched).toEqual(['evict at 2500 µs']);
  });
});
