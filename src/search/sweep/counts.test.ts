import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../properties/runs.ts';
import { countsOf } from './counts.fixture.ts';
import {
  claimCounts,
  distinctFailures,
  KEPT_BROKEN,
  mergeCounts,
  NO_COUNTS,
  type SweepCounts,
} from './counts.ts';

/** A range, the places at which it is split, and the order in which its parts are merged. */
const cuts = fc.record({
  from: fc.nat(40),
  count: fc.nat(120),
  places: fc.array(fc.nat(160), { maxLength: 12 }),
  order: fc.infiniteStream(fc.nat(1000)),
});

test('merged counts have the same bytes, however a range is split and ordered', async () => {
  await fc.assert(
    fc.asyncProperty(cuts, async ({ from, count, places, order }) => {
      const to = from + count;
      const starts = [...new Set([from, ...places.filter((at) => at > from && at <= to)])].sort(
        (a, b) => a - b,
      );
      const parts = await Promise.all(
        starts.map((start, at) => countsOf({ from: start, to: (starts[at + 1] ?? to + 1) - 1 })),
      );
      const shuffled = parts
        .map((part) => ({ part, key: order.next().value }))
        .sort((a, b) => a.key - b.key);
      const merged = shuffled.reduce(
        (sum: SweepCounts, { part }) => mergeCounts(sum, part),
        NO_COUNTS,
      );
      const unsplit = await countsOf({ from, to });
      expect(merged).toEqual(unsplit);
      expect(JSON.stringify(merged)).toBe(JSON.stringify(mergeCounts(NO_COUNTS, unsplit)));
    }),
    { numRuns: runs(200) },
  );
});

test('the lowest seeds are kept', async () => {
  const high = await countsOf({ from: 100, to: 199 });
  const low = await countsOf({ from: 0, to: 99 });
  const { claims, failures } = mergeCounts(high, low);
  const broken = claims['grant-order']?.brokenSeeds;
  expect(broken?.slice(0, 10)).toEqual([0, 3, 9, 12, 15, 18, 21, 24, 30, 33]);
  expect(broken).toHaveLength(KEPT_BROKEN);
  expect(claims['tokens-unique']?.firstUnknown).toEqual({ seed: 0, reason: 'seed 0' });
  expect(failures.map(({ seed }) => seed)).toEqual([6, 13, 20, 27, 34, 41, 48, 55, 62, 69]);
});

test('equal failures are listed once, regardless of their process and seed', () => {
  const of = ['alice: no 1', 'bob: no 2', 'alice: other', 'no-3: no 9'];
  const errors = [...of, 'in a: other', 'in b: other'];
  const failures = errors.map((error, seed) => ({ seed, error }));
  const distinct = distinctFailures({ ...NO_COUNTS, failed: 6, failures });
  // Only a leading name is that of a process.
  expect(distinct.map(({ seed }) => seed)).toEqual([0, 2, 4, 5]);
});

test('a claim may have the name of a property of every object', () => {
  const names = ['constructor', 'toString', '__proto__'];
  const claim = { unknown: 0, firstUnknown: null, exercised: 1, times: 1 };
  const broken = { ...claim, broken: 1, brokenSeeds: [3] };
  const one: SweepCounts = {
    ...NO_COUNTS,
    seeds: 1,
    claims: Object.fromEntries(names.map((name) => [name, broken])),
  };
  const none = { ...claim, broken: 0, brokenSeeds: [], exercised: 0, times: 0 };
  for (const name of names) {
    expect(claimCounts(NO_COUNTS, name)).toEqual(none);
    expect(claimCounts(mergeCounts(NO_COUNTS, one), name)).toEqual(broken);
    expect(claimCounts(mergeCounts(one, one), name)).toMatchObject({ broken: 2, times: 2 });
  }
});

test('the causes of a claim add up, and are omitted if neither part has any', () => {
  const cause = { rule: 'stale-write', isByNonOwnerRelease: false, faults: [] };
  const causes = [{ cause, broken: 1, brokenSeeds: [3] }];
  const plain = claimCounts(NO_COUNTS, 'c');
  const part = (more: object): SweepCounts => ({
    ...NO_COUNTS,
    claims: { c: { ...plain, ...more } },
  });
  const merged = (a: SweepCounts, b: SweepCounts): unknown =>
    claimCounts(mergeCounts(a, b), 'c').causes;
  expect(merged(part({}), part({}))).toBeUndefined();
  expect(merged(part({ causes }), part({}))).toEqual(causes);
  expect(merged(part({}), part({ causes }))).toEqual(causes);
  expect(merged(part({ causes }), part({ causes }))).toMatchObject([{ broken: 2 }]);
});

test('merged faults are in order of their names, whichever fired first', async () => {
  const namesOf = async (...ranges: readonly (readonly [number, number])[]) => {
    const parts = await Promise.all(ranges.map(([from, to]) => countsOf({ from, to })));
    return Object.keys(parts.reduce(mergeCounts, NO_COUNTS).faults);
  };
  expect(await namesOf([1, 1], [2, 2])).toEqual(['drop', 'pause']);
  expect(await namesOf([2, 2], [1, 1])).toEqual(['drop', 'pause']);
});
