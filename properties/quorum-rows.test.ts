/**
 * What holds and what breaks of fencing over replicas, by going through every order of a small
 * model that shares nothing with the simulator: no time, no queue, no chance, only states and the
 * steps that are possible in each. Two holders write once, the earlier one whenever it likes, as a
 * zombie does; each of their messages may reach each replica at any moment or never; then somebody
 * reads from any R replicas. `fixtures/quorum.yaml` expects the same of the store: in each row it
 * breaks what the model breaks, found by seeds, and holds the rest.
 */
import { describe, expect, test } from 'vitest';

/** Who wrote what a replica holds: nobody, the earlier holder or the later one. */
type Writer = 0 | 1 | 2;

interface Row {
  readonly replicas: number;
  readonly writes: number;
  readonly reads: number;
  readonly stamp: 'token' | 'clock';
  /** Whether the later holder goes on before its write has reached W. */
  readonly goesOn?: boolean;
}

/** Writers by the order in which they made their stamps; what replicas hold; what was read. */
interface State {
  readonly stamped: readonly Writer[];
  readonly held: readonly Writer[];
  /** The replicas that a writer's message has not reached. */
  readonly missing: readonly [readonly number[], readonly number[]];
}

/** Every state that steps lead to from the first, by a search without any order of its own. */
function reachable(row: Row): readonly State[] {
  const all = Array.from({ length: row.replicas }, (_, at) => at);
  const first: State = { stamped: [], held: all.map(() => 0), missing: [all, all] };
  const seen = new Map([[JSON.stringify(first), first]]);
  for (const state of seen.values()) {
    for (const next of steps(row, state)) seen.set(JSON.stringify(next), next);
  }
  return [...seen.values()];
}

function steps(row: Row, state: State): readonly State[] {
  const { stamped, held, missing } = state;
  return ([1, 2] as const)
    .flatMap((writer) => {
      // A write is stamped as it leaves.
      if (!stamped.includes(writer)) return [{ ...state, stamped: [...stamped, writer] }];
      return missing[writer - 1]?.map((replica): State => {
        const there = held[replica] ?? 0;
        const isLast = rank(row, stamped, writer) > rank(row, stamped, there);
        const left = missing.map((of, at) =>
          at === writer - 1 ? of.filter((r) => r !== replica) : of,
        );
        return {
          stamped,
          held: isLast ? held.with(replica, writer) : held,
          missing: [left[0] ?? [], left[1] ?? []],
        };
      });
    })
    .filter((next) => next !== undefined);
}

function rank({ stamp }: Row, stamped: readonly Writer[], writer: Writer): number {
  return stamp === 'token' ? writer : stamped.indexOf(writer) + 1;
}

/** What somebody may read who asks after the later holder has gone on. */
function readAfter(row: Row): ReadonlySet<Writer> {
  const found = new Set<Writer>();
  for (const { stamped, held, missing } of reachable(row)) {
    const isWritten = row.replicas - missing[1].length >= row.writes;
    if (!stamped.includes(2) || !(isWritten || row.goesOn === true)) continue;
    for (const asked of subsets(held, row.reads)) {
      found.add(asked.reduce((a, b) => (rank(row, stamped, a) < rank(row, stamped, b) ? b : a), 0));
    }
  }
  return found;
}

function subsets<T>(of: readonly T[], size: number): readonly (readonly T[])[] {
  if (size === 0) return [[]];
  return of.flatMap((one, at) => subsets(of.slice(at + 1), size - 1).map((more) => [one, ...more]));
}

const sizes = [1, 2, 3, 4].flatMap((replicas) =>
  Array.from({ length: replicas * replicas }, (_, at) => {
    return { replicas, writes: (at % replicas) + 1, reads: Math.floor(at / replicas) + 1 };
  }),
);

describe('blind writes, read after the later holder’s write has reached W', () => {
  test('with the token in front, the later holder’s is read iff R + W > N', () => {
    for (const size of sizes) {
      const read = readAfter({ ...size, stamp: 'token' });
      const shares = size.reads + size.writes > size.replicas;
      expect(
        [...read].every((writer) => writer === 2),
        JSON.stringify(size),
      ).toBe(shares);
    }
  });

  test('by the clock alone, the zombie’s may be read whatever R and W are', () => {
    for (const size of sizes) expect(readAfter({ ...size, stamp: 'clock' })).toContain(1);
  });

  test('a reader of one replica may find the zombie’s, unless all N must have a write', () => {
    for (const size of sizes.filter(({ reads }) => reads === 1)) {
      const read = readAfter({ ...size, stamp: 'token' });
      expect(read.has(1), JSON.stringify(size)).toBe(size.writes < size.replicas);
    }
  });

  test('before it has reached W, the zombie’s may be read whatever R and W are', () => {
    for (const size of sizes) {
      expect(readAfter({ ...size, stamp: 'token', goesOn: true })).toContain(1);
    }
  });
});

describe('read, add one, write', () => {
  interface Count {
    readonly stored: { readonly by: number; readonly value: number };
    /** What each holder has read; undefined before. */
    readonly read: readonly (number | undefined)[];
    readonly written: readonly number[];
  }

  /** One replica stands for a quorum that every read and write shares: it makes nothing better. */
  function counts(): readonly Count[] {
    const first: Count = { stored: { by: 0, value: 0 }, read: [], written: [] };
    const seen = new Map([[JSON.stringify(first), first]]);
    for (const state of seen.values()) {
      for (const next of [1, 2].flatMap((holder) => after(state, holder))) {
        seen.set(JSON.stringify(next), next);
      }
    }
    return [...seen.values()].filter(({ written }) => written.length === 2);
  }

  function after(state: Count, holder: number): readonly Count[] {
    const { stored, read, written } = state;
    const own = read[holder];
    if (own === undefined) {
      return [{ ...state, read: [0, 1, 2].map((at) => (at === holder ? stored.value : read[at])) }];
    }
    if (written.includes(holder)) return [];
    const isLast = holder > stored.by;
    const next = isLast ? { by: holder, value: own + 1 } : stored;
    return [{ stored: next, read, written: [...written, holder] }];
  }

  test('an increment may be lost, though both are acknowledged', () => {
    const values = new Set(counts().map(({ stored }) => stored.value));
    expect(values).toEqual(new Set([1, 2]));
  });
});
