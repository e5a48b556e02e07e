/**
 * Derives what fencing over replicas holds and breaks by trying every order of a small model that
 * shares nothing with the simulator: no time, no queue, no chance, only states and the steps
 * possible in each. Two holders write once each, the earlier one at any time, as a zombie does.
 * Each of their messages may reach each replica at any moment or never. Then a client reads from
 * any R replicas, and may repair those with older values. `fixtures/quorum.yaml` expects the same
 * of the store: on seeds, each row breaks what the model breaks and holds the rest.
 */
import { describe, expect, test } from 'vitest';
import { isEarlier, type Stamp } from '../src/core/history/events.ts';
import type { Trace } from '../src/core/history/trace.ts';
import { loadScenario } from '../src/load.ts';
import { run } from '../src/run.ts';
import { expand } from '../src/scenario/expand.ts';
import type { Scenario } from '../src/scenario/scenario.ts';
import { runs } from './runs.ts';

/** The writer of a replica's value: 0 none, 1 the earlier holder, 2 the later holder. */
type Writer = 0 | 1 | 2;

interface Row {
  readonly replicas: number;
  readonly writes: number;
  readonly reads: number;
  readonly stamp: 'token' | 'clock';
  /** True if the later holder continues before its write has reached W replicas. */
  readonly goesOn?: boolean;
}

/** `stamped`: writers in the order of their stamps. `held`: the writer of each replica's value. */
interface State {
  readonly stamped: readonly Writer[];
  readonly held: readonly Writer[];
  /** The replicas that the message of each writer has not reached. */
  readonly missing: readonly [readonly number[], readonly number[]];
}

function firstState({ replicas }: Row): State {
  const all = Array.from({ length: replicas }, (_, at) => at);
  return { stamped: [], held: all.map(() => 0), missing: [all, all] };
}

/** Returns every state that is reachable from the first one. */
function reachable(row: Row): readonly State[] {
  const first = firstState(row);
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
      // A write is stamped when it is sent.
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

/** Returns the possible results of a read that begins after the later holder has continued. */
function readAfter(row: Row): ReadonlySet<Writer> {
  const found = new Set<Writer>();
  for (const state of reachable(row)) {
    const { stamped, held, missing } = state;
    const isWritten = row.replicas - missing[1].length >= row.writes;
    if (!stamped.includes(2) || !(isWritten || row.goesOn === true)) continue;
    for (const asked of subsets(held, row.reads)) found.add(newestOf(row, state, asked));
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
  test('ordered by token, a read returns the later holder’s write iff R + W > N', () => {
    for (const size of sizes) {
      const read = readAfter({ ...size, stamp: 'token' });
      const shares = size.reads + size.writes > size.replicas;
      expect(
        [...read].every((writer) => writer === 2),
        JSON.stringify(size),
      ).toBe(shares);
    }
  });

  test('ordered by the clock alone, a read may return the zombie’s write for all R and W', () => {
    for (const size of sizes) expect(readAfter({ ...size, stamp: 'clock' })).toContain(1);
  });

  test('a read of one replica may return the zombie’s write unless W = N', () => {
    for (const size of sizes.filter(({ reads }) => reads === 1)) {
      const read = readAfter({ ...size, stamp: 'token' });
      expect(read.has(1), JSON.stringify(size)).toBe(size.writes < size.replicas);
    }
  });

  test('before the later write reaches W, a read may return the zombie’s for all R and W', () => {
    for (const size of sizes) {
      expect(readAfter({ ...size, stamp: 'token', goesOn: true })).toContain(1);
    }
  });
});

/** A reader never repairs older replicas, or does so after or before it returns. */
type Repair = 'off' | 'after' | 'before';

/**
 * The result of the first of two reads, and a possible result of one that begins after it ended.
 */
interface TwoReads {
  readonly state: State;
  readonly found: Writer;
  readonly later: Writer;
}

/** Returns the newest of these by their stamps. */
function newestOf(row: Row, { stamped }: State, asked: readonly Writer[]): Writer {
  return asked.reduce((a, b) => (rank(row, stamped, a) < rank(row, stamped, b) ? b : a), 0);
}

function readsInTurn(row: Row, repair: Repair): readonly TwoReads[] {
  return reachable(row).flatMap((state) => {
    const firsts = new Set(subsets(state.held, row.reads).map((of) => newestOf(row, state, of)));
    return [...firsts].flatMap((found) =>
      repaired(row, { state, found }, repair).flatMap((after) => {
        const seconds = subsets(after.held, row.reads).map((of) => newestOf(row, after, of));
        return [...new Set(seconds)].map((later) => ({ state: after, found, later }));
      }),
    );
  });
}

/** The states in which the second read may begin: a repair reaches any subset of the replicas. */
function repaired(
  row: Row,
  { state, found }: { readonly state: State; readonly found: Writer },
  repair: Repair,
): readonly State[] {
  const { stamped, held } = state;
  const hasIt = (writer: Writer): boolean =>
    rank(row, stamped, writer) >= rank(row, stamped, found);
  const lacking = held.flatMap((writer, at) => (hasIt(writer) ? [] : [at]));
  const sizes = repair === 'off' ? [0] : [...lacking.keys(), lacking.length];
  return sizes.flatMap((size) =>
    subsets(lacking, size).flatMap((reached): readonly State[] => {
      const now = held.map((writer, at) => (reached.includes(at) ? found : writer));
      const isEnough = now.filter(hasIt).length >= row.writes;
      return repair === 'before' && !isEnough ? [] : [{ ...state, held: now }];
    }),
  );
}

describe('two successive reads while writes are in progress', () => {
  /** Returns true if the second may return an older value than the first. */
  const mayGoBack = (row: Row, repair: Repair): boolean =>
    readsInTurn(row, repair).some(
      ({ state: { stamped }, found, later }) =>
        rank(row, stamped, later) < rank(row, stamped, found),
    );

  test.each(['token', 'clock'] as const)('by %s: the second may be older iff R < N', (stamp) => {
    for (const size of sizes) {
      for (const repair of ['off', 'after'] as const) {
        const settings = JSON.stringify({ ...size, repair });
        expect(mayGoBack({ ...size, stamp }, repair), settings).toBe(size.reads < size.replicas);
      }
    }
  });

  test('after a repair has reached W replicas, the second is never older iff R + W > N', () => {
    for (const size of sizes) {
      const shares = size.reads + size.writes > size.replicas;
      for (const stamp of ['token', 'clock'] as const) {
        const settings = JSON.stringify({ ...size, stamp });
        expect(mayGoBack({ ...size, stamp }, 'before'), settings).toBe(!shares);
      }
    }
  });

  test('no repair restores the zombie’s write once the later holder’s has reached W', () => {
    for (const size of sizes.filter(({ reads, writes, replicas }) => reads + writes > replicas)) {
      const row: Row = { ...size, stamp: 'token' };
      for (const repair of ['after', 'before'] as const) {
        const late = readsInTurn(row, repair).filter(
          ({ state: { stamped, missing } }) =>
            stamped.includes(2) && row.replicas - missing[1].length >= row.writes,
        );
        expect(late.length).toBeGreaterThan(0);
        expect(late.every(({ later }) => later === 2)).toBe(true);
      }
    }
  });
});

describe('read, add one, write', () => {
  interface Count {
    readonly stored: { readonly by: number; readonly value: number };
    /** The value that each holder has read; undefined before its read. */
    readonly read: readonly (number | undefined)[];
    readonly written: readonly number[];
  }

  /** One replica stands for a quorum that all reads and writes share, so this is the best case. */
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
    const replica = read[holder];
    if (replica === undefined) {
      return [{ ...state, read: [0, 1, 2].map((at) => (at === holder ? stored.value : read[at])) }];
    }
    if (written.includes(holder)) return [];
    const isLast = holder > stored.by;
    const next = isLast ? { by: holder, value: replica + 1 } : stored;
    return [{ stored: next, read, written: [...written, holder] }];
  }

  test('an increment may be lost, though both are acknowledged', () => {
    const values = new Set(counts().map(({ stored }) => stored.value));
    expect(values).toEqual(new Set([1, 2]));
  });
});

describe('the store, if messages to its replicas are delayed', () => {
  function scenarioWith(repair: Repair): Scenario {
    // The first write of each client reaches one replica early and the other two late.
    const delays = ['alice', 'bob', 'carol'].flatMap((client) =>
      ['store-2', 'store-3'].map(
        (store) => `  - delay: { message: ${client}/1/write/1-${store}/request, by: 40ms }\n`,
      ),
    );
    const text = `name: two-reads
systems:
  one: { lock: lock-service, store: quorum, options: { readRepair: ${repair} }, expect: { holds: [tokens-increase] } }
clients: { count: 3, ttl: 5ms, sections: 1, think: 0ms..9ms, checksLease: false }
workload: { kind: read-modify-write }
network: { latency: 1ms..4ms }
faults:
${delays.join('')}`;
    const read = loadScenario(text, 'two-reads.yaml');
    if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
    return read.scenario;
  }

  /** Counts reads that are older than an earlier read whose client had already gone on to write. */
  function readsThatWentBack({ events }: Trace): number {
    const stamps = new Map<string, Stamp>();
    const asked = new Map<string, number>();
    const found = new Map<string, Stamp | undefined>();
    const wentOn: { readonly at: number; readonly stamp: Stamp }[] = [];
    let count = 0;
    for (const [at, event] of events.entries()) {
      if (event.kind === 'write' && event.stamp !== undefined) {
        stamps.set(event.operation, event.stamp);
      } else if (event.kind === 'read') {
        const keyStamp = stamps.get(event.written ?? '');
        found.set(sectionOf(event.operation), keyStamp);
        const begun = asked.get(event.operation) ?? 0;
        const isOlder = (stamp: Stamp): boolean =>
          keyStamp === undefined || isEarlier(keyStamp, stamp);
        if (wentOn.some((before) => before.at < begun && isOlder(before.stamp))) count += 1;
      } else if (event.kind === 'invoke') {
        asked.set(event.operation, at);
        const before = found.get(sectionOf(event.operation));
        const isWrite = event.call.verb === 'write';
        if (isWrite && before !== undefined) wentOn.push({ at, stamp: before });
      }
    }
    return count;
  }

  const sectionOf = (operation: string): string => operation.split('/').slice(0, 2).join('/');

  test.each([
    ['off', true],
    ['before', false],
  ] as const)('with readRepair: %s, a later read may return an older value: %s', (repair, may) => {
    const scenario = scenarioWith(repair);
    let count = 0;
    for (let seed = 0; seed < runs(300); seed += 1) {
      count += readsThatWentBack(run(expand(scenario, 'one', seed)));
    }
    expect(count > 0).toBe(may);
  });
});
