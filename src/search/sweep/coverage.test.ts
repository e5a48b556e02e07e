/** Tests the coverage of a seed, with traces written by hand. */
import { describe, expect, test } from 'vitest';
import { acquire, enter, invoke, read, traceOf, write } from '../../check/trace-builder.fixture.ts';
import type { TraceEvent } from '../../core/history/events.ts';
import type { Work } from '../../core/plan/plan.ts';
import { clientOf, planOf, writeOf } from '../../systems/plan.fixture.ts';
import { addCoverage, type CoverageCounts, mergeCoverage, NO_COVERAGE } from './coverage.ts';

function coverage(events: readonly TraceEvent[], work: readonly Work[] = []): CoverageCounts {
  const counts = { ...NO_COVERAGE };
  addCoverage(counts, planOf({ clients: [clientOf('alice', work)] }), traceOf(events));
  return counts;
}

test('each count of the coverage of two parts adds up separately', () => {
  const some = { contested: 1, shared: 2, toWrite: 3, written: 4, readAfter: 5, readBack: 6 };
  const more = { contested: 10, shared: 9, toWrite: 8, written: 7, readAfter: 6, readBack: 5 };
  const sum = { contested: 11, shared: 11, toWrite: 11, written: 11, readAfter: 11, readBack: 11 };
  expect(mergeCoverage(some, more)).toEqual(sum);
  expect(mergeCoverage(some, NO_COVERAGE)).toEqual(some);
});

describe('a lock', () => {
  const mine = acquire(0, 'alice/1/acquire');
  const other = acquire(1, 'bob/2/acquire');

  test('is contested once two clients asked for it', () => {
    expect(coverage([mine, mine])).toMatchObject({ contested: 0, shared: 0 });
    expect(coverage([mine, other])).toMatchObject({ contested: 1, shared: 0 });
  });

  test('is not contested by the probe, by requests for other locks, or by other calls', () => {
    const elsewhere = { ...other, call: { verb: 'acquire', lock: 'b', token: 0 } } as const;
    const probing = acquire(1, 'probe/2/acquire');
    const released = { ...other, call: { verb: 'release', lock: 'db', token: 0 } } as const;
    for (const event of [elsewhere, probing, released, invoke(1, 'bob/2/write')]) {
      expect(coverage([mine, event])).toEqual(NO_COVERAGE);
    }
  });

  test('is not contested if one client computes for all', () => {
    const memoize: Work = {
      kind: 'memoize',
      id: 1,
      store: 'store',
      key: 'x',
      value: 1,
      forUs: 1,
      pieces: 1,
    };
    expect(coverage([mine, other], [memoize]).contested).toBe(0);
  });

  test('is shared once two clients other than the probe held it', () => {
    const had = enter(0, 'alice', 1, 9);
    expect(coverage([had, enter(1, 'alice', 2, 9)]).shared).toBe(0);
    expect(coverage([had, enter(1, 'probe', 2, 9)]).shared).toBe(0);
    expect(coverage([had, { ...enter(1, 'bob', 2, 9), lock: 'b' }]).shared).toBe(0);
    expect(coverage([had, enter(1, 'bob', 2, 9)])).toMatchObject({ contested: 0, shared: 1 });
  });
});

describe('a write', () => {
  const kept = write(1, 'alice', 1, 7);

  test('is planned if a section has a step that writes', () => {
    expect(coverage([], [{ kind: 'compute', id: 1, forUs: 1 }]).toWrite).toBe(0);
    expect(coverage([], [{ kind: 'compute', id: 1, forUs: 1 }, writeOf(1)]).toWrite).toBe(1);
  });

  test('counts once a store accepted it from a client other than the probe', () => {
    expect(coverage([kept])).toMatchObject({ written: 1, readAfter: 0, readBack: 0 });
    expect(coverage([{ ...kept, isAccepted: false }]).written).toBe(0);
    expect(coverage([{ ...kept, value: null }]).written).toBe(0);
    expect(coverage([{ ...kept, client: 'probe' }]).written).toBe(0);
  });

  test('is read back if a later read of its key returns its value', () => {
    expect(coverage([kept, read(2, 'bob', 2, 7)])).toMatchObject({ readAfter: 1, readBack: 1 });
    expect(coverage([kept, read(2, 'bob', 2, 0)])).toMatchObject({ readAfter: 1, readBack: 0 });
    expect(coverage([read(0, 'bob', 2, 7), kept])).toMatchObject({ readAfter: 0, readBack: 0 });
    const both = [kept, write(2, 'alice', 1, 8), read(3, 'bob', 2, 7)];
    expect(coverage(both)).toMatchObject({ readAfter: 1, readBack: 1 });
  });

  test('is not read back by a read that was refused, or of another key', () => {
    const served = read(2, 'bob', 2, 7);
    const elsewhere = [{ process: 'other' }, { resource: 'other' }, { key: 'y' }];
    for (const more of [{ value: null }, ...elsewhere]) {
      expect(coverage([kept, { ...served, ...more }])).toMatchObject({ readAfter: 0, readBack: 0 });
    }
  });
});
