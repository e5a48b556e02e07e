import { describe, expect, test } from 'vitest';
import type { FaultOf } from '../plan/fault.ts';
import { happen, linesOf, MS, type Script } from './echo.fixture.ts';

function partitionOf(part: Partial<FaultOf<'partition'>> = {}): FaultOf<'partition'> {
  return {
    kind: 'partition',
    from: ['alice'],
    to: ['echo'],
    direction: 'both',
    when: { kind: 'at', atUs: 3 * MS },
    forUs: 10 * MS,
    ...part,
  };
}

/** Asks once before the partition and once during it. */
const asks: Script = function* (alice) {
  yield* alice.ask({ name: 'a' });
  yield* alice.wait('nap', 3);
  yield* alice.ask({ name: 'b', timeoutMs: 20 });
};

describe('a partition', () => {
  test('holds back messages on a connection until it heals', () => {
    const trace = happen({ alice: asks }, { faults: [partitionOf()] });
    expect(linesOf(trace, 'inject', 'send', 'get', 'heal').slice(4)).toEqual([
      '3 inject partition alice echo',
      '5 send alice/b/1/request',
      '13 heal alice echo',
      '14 get alice/b/1/request',
      '14 send alice/b/1/reply',
      '15 get alice/b/1/reply',
    ]);
  });

  test('loses datagrams', () => {
    const trace = happen({ alice: asks }, { faults: [partitionOf()], link: 'datagram' });
    expect(linesOf(trace, 'lose', 'end')).toEqual([
      '2 end alice/a ok 1',
      '5 lose alice/b/1/request partition',
      '25 end alice/b info',
    ]);
  });

  test('does not affect messages in flight when it begins', () => {
    const faults = [partitionOf({ when: { kind: 'at', atUs: 0.5 * MS }, direction: 'one-way' })];
    expect(linesOf(happen({ alice: asks }, { faults }), 'get')[0]).toBe('1 get alice/a/1/request');
  });

  test('that is one-way stops one direction only', () => {
    const ends = (from: string, to: string): readonly string[] => {
      const faults = [partitionOf({ from: [from], to: [to], direction: 'one-way' })];
      return linesOf(happen({ alice: asks }, { faults }), 'get').slice(2);
    };
    const [request, reply] = ['get alice/b/1/request', 'get alice/b/1/reply'];
    expect(ends('alice', 'echo')).toEqual([`14 ${request}`, `15 ${reply}`]);
    expect(ends('echo', 'alice')).toEqual([`6 ${request}`, `14 ${reply}`]);
  });

  test('separates its two groups, and no other process', () => {
    const faults = [partitionOf({ from: ['alice', 'bob'] })];
    const trace = happen({ alice: asks, bob: asks, carol: asks }, { faults });
    expect(linesOf(trace, 'get').filter((line) => line.includes('/b/1/request'))).toEqual([
      '6 get carol/b/1/request',
      '14 get alice/b/1/request',
      '14 get bob/b/1/request',
    ]);
  });

  test.each(['before', 'after'] as const)('can be injected %s an operation', (kind) => {
    const point = kind === 'before' ? 'alice/b' : 'alice/a';
    const forUs = kind === 'before' ? 10 * MS : 13 * MS;
    const faults = [partitionOf({ when: { kind, point }, forUs })];
    const trace = happen({ alice: asks }, { faults });
    expect(linesOf(trace, 'get')[2]).toBe('16 get alice/b/1/request');
  });

  test('that overlaps another holds until the last has healed', () => {
    const second = partitionOf({ when: { kind: 'at', atUs: 4 * MS }, forUs: 30 * MS });
    const late: Script = function* (bob) {
      yield* bob.wait('nap', 20);
      yield* bob.ask({ name: 'a' });
    };
    const faults = [partitionOf({ from: ['alice', 'bob'] }), { ...second, from: ['alice', 'bob'] }];
    const trace = happen({ alice: asks, bob: late }, { faults });
    expect(linesOf(trace, 'heal', 'get').slice(2, 6)).toEqual([
      '13 heal alice bob echo',
      '34 heal alice bob echo',
      '35 get alice/b/1/request',
      '35 get bob/a/1/request',
    ]);
  });

  test('keeps the order of a connection across its end', () => {
    const sends: Script = function* (alice) {
      for (const name of ['a', 'b', 'c']) {
        yield* alice.notify({ name });
        yield* alice.wait(`after-${name}`, 6);
      }
    };
    const decisions = { 'alice/b/1/request': 9 * MS };
    const trace = happen({ alice: sends }, { faults: [partitionOf()], decisions });
    expect(linesOf(trace, 'do')).toEqual([
      '1 do alice/a total 1 count 1',
      '22 do alice/b total 2 count 2',
      '22 do alice/c total 3 count 3',
    ]);
  });

  test('delays the notice of a server crash until it heals', () => {
    const when = { kind: 'at', atUs: 5.5 * MS } as const;
    const crash = { kind: 'crash', process: 'echo', when, restartAfterUs: null } as const;
    const trace = happen(
      { alice: asks },
      { faults: [crash, partitionOf({ from: ['echo'], to: ['alice'], direction: 'one-way' })] },
    );
    expect(linesOf(trace, 'lose', 'end')).toEqual([
      '2 end alice/a ok 1',
      '6 lose alice/b/1/request crash',
      '14 end alice/b info',
    ]);
  });

  /** Begins during the first partition, after calls were sent, and ends later. */
  const second = partitionOf({ when: { kind: 'at', atUs: 8 * MS }, forUs: 20 * MS });

  test('that begins later also holds back, in order, what an earlier one holds', () => {
    const sends: Script = function* (alice) {
      yield* alice.wait('nap', 5);
      yield* alice.notify({ name: 'a' });
      yield* alice.wait('more', 5);
      yield* alice.notify({ name: 'b' });
    };
    const decisions = { 'alice/a/1/request': 3 * MS };
    const trace = happen({ alice: sends }, { faults: [partitionOf(), second], decisions });
    expect(linesOf(trace, 'heal', 'do')).toEqual([
      '13 heal alice echo',
      '28 heal alice echo',
      '31 do alice/a total 1 count 1',
      '31 do alice/b total 2 count 2',
    ]);
  });

  test('that begins later also delays the notice of a server crash', () => {
    const when = { kind: 'at', atUs: 5.5 * MS } as const;
    const crash = { kind: 'crash', process: 'echo', when, restartAfterUs: null } as const;
    const patient: Script = function* (alice) {
      yield* alice.ask({ name: 'a' });
      yield* alice.wait('nap', 3);
      yield* alice.ask({ name: 'b', timeoutMs: 90 });
    };
    const back = { from: ['echo'], to: ['alice'], direction: 'one-way' } as const;
    const faults = [crash, partitionOf(back), { ...second, ...back }];
    const trace = happen({ alice: patient }, { faults });
    expect(linesOf(trace, 'end')[1]).toBe('29 end alice/b info');
  });

  test('holds nothing back for the next incarnation of a server', () => {
    const when = { kind: 'at', atUs: 7 * MS } as const;
    const crash = { kind: 'crash', process: 'echo', when, restartAfterUs: MS } as const;
    const trace = happen({ alice: asks }, { faults: [partitionOf(), crash] });
    expect(linesOf(trace, 'lose')).toEqual(['14 lose alice/b/1/request crash']);
  });

  test.each([
    [['zed'], ['echo']],
    [['alice', 'zed'], ['echo']],
    [['alice'], ['echo', 'zed']],
  ])('that names an unknown process has no effect: %j to %j', (from, to) => {
    const trace = happen({ alice: asks }, { faults: [partitionOf({ from, to })] });
    expect(linesOf(trace, 'inject', 'heal')).toEqual([]);
    expect(trace.unmatched).toEqual(['partition at 3000 µs']);
  });
});
