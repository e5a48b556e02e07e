import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seal } from './checksummed.ts';
import { countsOf } from './counts.fixture.ts';
import {
  type FiledShard,
  mergeShards,
  rangeOfShard,
  readShard,
  renderShard,
  type SeedRange,
  type ShardFile,
} from './shards.ts';

function rangesOf(range: SeedRange, of: number): readonly SeedRange[] {
  return Array.from({ length: of }, (_, at) => rangeOfShard(range, { index: at + 1, of }));
}

test('the shards of a range are contiguous, complete and equal in size', () => {
  const seeds = fc.record({ from: fc.nat(1_000_000), count: fc.nat(500), of: fc.nat(99) });
  fc.assert(
    fc.property(seeds, ({ from, count, of }) => {
      const shards = rangesOf({ from, to: from + count }, of + 1);
      let next = from;
      for (const shard of shards) {
        expect(shard.from).toBe(next);
        next = shard.to + 1;
      }
      expect(next).toBe(from + count + 1);
      const sizes = shards.map((shard) => shard.to - shard.from + 1);
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    }),
  );
});

test('the arithmetic is exact up to the largest seed', () => {
  const to = Number.MAX_SAFE_INTEGER;
  expect(rangeOfShard({ from: 0, to: to - 1 }, { index: 3, of: 3 }).to).toBe(to - 1);
  expect(rangeOfShard({ from: to - 3, to }, { index: 2, of: 3 })).toEqual({
    from: to - 1,
    to: to - 1,
  });
});

test('the last shards are empty if there are more shards than seeds', () => {
  expect(rangesOf({ from: 5, to: 6 }, 3)).toEqual([
    { from: 5, to: 5 },
    { from: 6, to: 6 },
    { from: 7, to: 6 },
  ]);
});

const RANGE = { from: 3, to: 90 };

async function shardOf(index: number, of: number, range = RANGE): Promise<ShardFile> {
  const part = rangeOfShard(range, { index, of });
  const shared = {
    isComplete: true,
    milliseconds: 10,
    repeated: 2,
    difference: null,
    corpus: null,
  };
  return {
    shard: { index, of },
    range,
    scenarios: [
      {
        origin: { fencepost: '1.2.3', scenario: 'zombie', digest: 'sha256:00', modules: {} },
        ...shared,
        file: 'zombie.yaml',
        text: 'name: zombie',
        countsBySystem: { s: await countsOf(part) },
        counterexamples: [{ system: 's', claim: 'grant-order', seed: part.from, plan: 'x' }],
        keptPlans: [],
      },
    ],
  };
}

/** All shards, as read back from their files. */
async function shardsOf(of: number): Promise<FiledShard[]> {
  const shards = Array.from({ length: of }, (_, at) => shardOf(at + 1, of));
  return (await Promise.all(shards)).map((shard) => {
    const read = readShard(renderShard(shard));
    if (read.kind === 'problem') throw new Error(read.what);
    return { file: `${shard.shard.index}.json`, shard: read.shard };
  });
}

describe('the shards of a run', () => {
  test('merge into the result of the complete range, in any order', async () => {
    const complete = await countsOf(RANGE);
    for (const of of [1, 2, 3, 7, 120]) {
      const merge = mergeShards((await shardsOf(of)).reverse());
      if (merge.kind !== 'merged') throw new Error(merge.kind);
      const [scenario] = merge.merged.scenarios;
      expect(merge.merged.range).toEqual(RANGE);
      expect(scenario?.countsBySystem.get('s')).toEqual(complete);
      expect(scenario).toMatchObject({ isComplete: true, milliseconds: 10 * of, repeated: 2 * of });
    }
  });

  test('merge into a partial result if one of them is partial', async () => {
    const [first, second] = await shardsOf(2);
    const [scenario] = second?.shard.scenarios ?? [];
    if (first === undefined || second === undefined || scenario === undefined) throw new Error();
    const truncated = { ...second.shard, scenarios: [{ ...scenario, isComplete: false }] };
    const merge = mergeShards([first, { ...second, shard: truncated }]);
    expect(merge).toMatchObject({ kind: 'merged', merged: { scenarios: [{ isComplete: false }] } });
  });

  test('report one that has not examined all its seeds, even if marked as complete', async () => {
    const [first, second] = await shardsOf(2);
    const [scenario] = second?.shard.scenarios ?? [];
    if (first === undefined || second === undefined || scenario === undefined) throw new Error();
    const countsBySystem = { s: await countsOf({ from: 47, to: 50 }) };
    const shard = { ...second.shard, scenarios: [{ ...scenario, countsBySystem }] };
    const merge = mergeShards([first, { file: 'cut.json', shard }]);
    if (merge.kind !== 'merged') throw new Error(merge.kind);
    const counts = { scenario: 'zombie', system: 's', examined: 4, seeds: 44, trial: 'seed' };
    expect(merge.merged.truncated).toEqual([{ file: 'cut.json', ...counts }]);
  });

  test('are refused if one has more seeds than its share', async () => {
    const [first, second] = await shardsOf(2);
    const [scenario] = second?.shard.scenarios ?? [];
    if (first === undefined || second === undefined || scenario === undefined) throw new Error();
    const shard = {
      ...second.shard,
      scenarios: [{ ...scenario, countsBySystem: { s: await countsOf(RANGE) } }],
    };
    const problems = ['more.json: too many results: 88, but its share is 44 seeds of zombie, s'];
    expect(mergeShards([first, { file: 'more.json', shard }])).toEqual({
      kind: 'refused',
      problems,
    });
  });

  test('are not merged while some are missing', async () => {
    const shards = (await shardsOf(5)).filter(({ shard }) => ![2, 5].includes(shard.shard.index));
    expect(mergeShards(shards)).toEqual({ kind: 'missing', first: [2, 5], count: 2, of: 5 });
  });

  test('name only the first ten that are missing', async () => {
    const of = Number.MAX_SAFE_INTEGER;
    const first = { ...(await shardOf(1, 2)), shard: { index: 1, of } };
    expect(mergeShards([{ file: '1.json', shard: first }])).toEqual({
      kind: 'missing',
      count: of - 1,
      of,
      first: [2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
    });
  });

  test('are refused if one is given twice, with both files', async () => {
    const shards = await shardsOf(2);
    const [, second] = shards;
    if (second === undefined) throw new Error();
    expect(mergeShards([...shards, { ...second, file: 'again.json' }])).toEqual({
      kind: 'refused',
      problems: ['2.json and again.json are both shard 2 of 2'],
    });
  });

  test.each<[string, (shard: ShardFile) => ShardFile | Promise<ShardFile>]>([
    ['is one of 3 shards, not one of 2', () => shardOf(2, 3)],
    ['is for the seeds 3..91, not 3..90', () => shardOf(2, 2, { from: 3, to: 91 })],
    ['is for the scenarios other, not zombie', (shard) => withOrigin(shard, { scenario: 'other' })],
    ['is for another version of zombie', (shard) => withOrigin(shard, { digest: 'sha256:01' })],
    ['is from fencepost 2.0.0, not 1.2.3', (shard) => withOrigin(shard, { fencepost: '2.0.0' })],
    [
      'is for another version of ./my-lock.mjs',
      (shard) => withOrigin(shard, { modules: { './my-lock.mjs': 'sha256:02' } }),
    ],
  ])('are refused if one %s', async (why, change) => {
    const [first, second] = await shardsOf(2);
    if (first === undefined || second === undefined) throw new Error();
    const other = { file: 'odd.json', shard: await change(second.shard) };
    expect(mergeShards([other, first])).toEqual({
      kind: 'refused',
      problems: [`odd.json: differs from 1.json: ${why}`],
    });
  });
});

function withOrigin(
  shard: ShardFile,
  origin: Partial<ShardFile['scenarios'][number]['origin']>,
): ShardFile {
  const scenarios = shard.scenarios.map((one) => ({
    ...one,
    origin: { ...one.origin, ...origin },
  }));
  return { ...shard, scenarios };
}

test('a shard file that is truncated, or has a changed digit, is refused', async () => {
  const text = renderShard(await shardOf(1, 2)).trimEnd();
  fc.assert(
    fc.property(fc.nat(text.length - 1), (at) => {
      expect(readShard(text.slice(0, at)).kind).toBe('problem');
      const digit = text[at] ?? '';
      if (!/\d/.test(digit)) return;
      const other = `${text.slice(0, at)}${(Number(digit) + 1) % 10}${text.slice(at + 1)}`;
      expect(readShard(other).kind).toBe('problem');
    }),
  );
  expect(readShard('[]')).toEqual({ kind: 'problem', what: 'is not a shard written by fencepost' });
});

test.each<[string, (shard: ShardFile) => object]>([
  [
    'is not a shard written by fencepost: range is missing; expected a map',
    ({ range: _, ...rest }) => rest,
  ],
  [
    'is not a shard written by fencepost: shard no such shard',
    (shard) => ({ ...shard, shard: { index: 3, of: 2 } }),
  ],
])('a checksummed shard %s', async (what, change) => {
  const content = change(await shardOf(1, 2));
  expect(readShard(seal({ type: 'shard', version: 3 }, content))).toEqual({
    kind: 'problem',
    what,
  });
});

test('merging no shards is refused', () => {
  const problems = ['no shard to merge'];
  expect(mergeShards([])).toEqual({ kind: 'refused', problems });
});

test('shards are merged in order, with all their data besides the counts', async () => {
  const [one, two, three] = await shardsOf(3);
  if (one === undefined || two === undefined || three === undefined) throw new Error();
  const difference = { system: 's', seed: 40, what: 'event 1 differs' };
  const kept = { file: 'a.yaml', outcome: 'fixed', expected: 'fixed', divergedAt: null };
  const merge = mergeShards([
    withMore(three, { difference: { ...difference, seed: 80 } }),
    withMore(one, { keptPlans: [kept] }),
    withMore(two, { difference }),
  ]);
  if (merge.kind !== 'merged') throw new Error(merge.kind);
  const [scenario] = merge.merged.scenarios;
  expect(scenario).toMatchObject({ difference, keptPlans: [kept] });
  const { shard } = withMore(one, { keptPlans: [kept], difference });
  expect(readShard(renderShard(shard))).toEqual({ kind: 'shard', shard });
  expect(scenario?.counterexamples.map(({ seed }) => seed)).toEqual([3, 33, 62]);
  expect(merge.merged.truncated).toEqual([]);
});

test('shards that counted different plans of one scenario belong to different runs', async () => {
  const [one, two] = await shardsOf(2);
  if (one === undefined || two === undefined) throw new Error();
  const scope = { faults: 1, ties: 0, clients: null, sections: null };
  const counted = (filed: FiledShard, plans: number): FiledShard =>
    withMore(filed, { exhausted: { scope, plans: { s: plans } } });
  const problems = [`${two.file}: differs from ${one.file}: has different plan counts for zombie`];
  const merge = mergeShards([counted(one, 100), counted(two, 101)]);
  expect(merge).toEqual({ kind: 'refused', problems });
});

test('a shard of an exhaustive search has its share of each system’s plans', async () => {
  const shards = await shardsOf(2);
  const scope = { faults: 1, ties: 0, clients: null, sections: null };
  const merged = (plans: Readonly<Record<string, number>>): unknown => {
    const merge = mergeShards(shards.map((one) => withMore(one, { exhausted: { scope, plans } })));
    if (merge.kind !== 'merged') return merge;
    return merge.merged.truncated.map(
      ({ examined, seeds, trial }) => `${examined} of ${seeds} ${trial}s`,
    );
  };
  expect(merged({ s: 88 })).toEqual([]);
  expect(merged({ s: 101 })).toEqual(['44 of 51 plans', '44 of 50 plans']);
  const problems = shards.map(({ file }) => `${file}: too many results: 44, but its share is`);
  expect(merged({})).toEqual({
    kind: 'refused',
    problems: problems.map((problem) => `${problem} 0 plans of zombie, s`),
  });
});

function withMore(
  { file, shard }: FiledShard,
  more: Partial<ShardFile['scenarios'][number]>,
): FiledShard {
  return {
    file,
    shard: { ...shard, scenarios: shard.scenarios.map((one) => ({ ...one, ...more })) },
  };
}
