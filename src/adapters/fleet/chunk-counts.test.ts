import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NO_SECTIONS, type SectionErrorCount } from '../../search/sweep/sections.ts';
import { sweep as examine } from '../../search/sweep/sweep.ts';
import { EMPTY_TALLY, type Tally } from '../../search/sweep/tally.ts';
import { MOST_TEXT } from '../../text/error-text.ts';
import { type Checkpoint, readCheckpoint, renderCheckpoint } from './checkpoint.ts';
import { boundsOf, ChunkCounts, isPlausible } from './chunk-counts.ts';
import { chunksIn } from './chunks.ts';
import { resultOf, smallScenario, smallSweep } from './sweep.fixture.ts';
import { type ChunkResult, chunkResultSchema, type ShrunkKind } from './sweep-queue.ts';
import { sweepIdOf } from './sweep-record.ts';
import { digestOfTally, type TwoResults } from './two-results.ts';

const sweep = smallSweep();
const systems = ['unfenced', 'fenced'];
const chunks = chunksIn(sweep);
const SHRUNK: ShrunkKind = {
  ...{ system: 'unfenced', claim: 'fence-monotone', seed: 12, plan: 'a plan', signature: 'abcd' },
  boundary: {
    ...{ what: 'a pause', parameter: 'p', breaksAtUs: -1, holdsAtUs: 0 },
    ...{ keepsUs: -1, isOnlyOne: true, holdsPlan: 'near' },
  },
  ...{ whyNoBoundary: null, headline: 'it broke' },
  others: [{ cause: 'stale-write: no fault', plan: 'another plan' }],
};
const ALARM: TwoResults = {
  ...{ chunk: 3, from: 31, to: 37 },
  systems: [{ system: 'unfenced', counted: 5, other: 6 }],
};
const all = Array.from({ length: chunks }, (_, chunk) => resultOf(sweep, chunk));

function inOrder(): ChunkCounts {
  const counts = new ChunkCounts(sweep, systems);
  for (const result of all) counts.offer(result);
  return counts;
}

test('in any order, and however often they arrive, results add up to the same', () => {
  const whole = inOrder();
  expect(whole.done).toBe(chunks);
  const arrivals = fc.array(fc.nat(chunks - 1), { maxLength: 60 });
  fc.assert(
    fc.property(arrivals, (first) => {
      const counts = new ChunkCounts(sweep, systems);
      const once = new Set<number>();
      for (const chunk of [...first, ...all.keys()]) {
        const { kind } = counts.offer(resultOf(sweep, chunk));
        expect(kind).toBe(once.has(chunk) ? 'equal' : 'counted');
        once.add(chunk);
      }
      expect(counts.tallies).toEqual(whole.tallies);
    }),
  );
  expect(whole.tallies.get('unfenced')).toMatchObject({ seeds: 100, broken: 33 });
});

test('a second result that differs is told with the system that does, and does not count', () => {
  const counts = inOrder();
  const before = new Map(counts.tallies);
  const result = resultOf(sweep, 3);
  const { unfenced } = result.tallies;
  if (unfenced === undefined) throw new Error('the fixture has this system');
  const other = { ...result, tallies: { ...result.tallies, unfenced: { ...unfenced, events: 1 } } };
  const counted = digestOfTally(unfenced);
  const digests = { counted, other: digestOfTally({ ...unfenced, events: 1 }) };
  const systems = [{ system: 'unfenced', ...digests }];
  expect(counts.offer(other)).toEqual({ kind: 'different', systems });
  expect(counts.tallies).toEqual(before);
});

test('where a seed was killed in one of two results, its system is not compared', () => {
  const well = resultOf(sweep, 3);
  const { unfenced, fenced } = well.tallies;
  if (unfenced === undefined || fenced === undefined) throw new Error('the fixture has both');
  const killed: Tally = { ...unfenced, failed: 1, killed: 1, failures: [{ seed: 31, error: '' }] };
  const ill = { ...well, tallies: { unfenced: killed, fenced } };
  for (const [first, second] of [
    [well, ill],
    [ill, well],
    [ill, { ...ill, tallies: { unfenced: { ...killed, failed: 2, killed: 2 }, fenced } }],
  ] as const) {
    const counts = new ChunkCounts(sweep, systems);
    expect(counts.offer(first).kind).toBe('counted');
    expect(counts.offer(second).kind).toBe('equal');
    expect(counts.tallies.get('unfenced')).toMatchObject({
      ...{ seeds: unfenced.seeds, killed: first.tallies.unfenced?.killed },
    });
    const other = { ...second, tallies: { ...second.tallies, fenced: { ...fenced, events: 1 } } };
    expect(counts.offer(other)).toMatchObject({ systems: [{ system: 'fenced' }] });
  }
});

test('how long a chunk took, and the order of names, make no other result', () => {
  const counts = inOrder();
  const { unfenced, fenced } = resultOf(sweep, 3).tallies;
  if (unfenced === undefined || fenced === undefined) throw new Error('the fixture has both');
  const tallies = { fenced, unfenced };
  expect(counts.offer({ ...resultOf(sweep, 3), tallies, milliseconds: 99 }).kind).toBe('equal');
});

test('a result of other seeds, of a part of them or of other systems is foreign', () => {
  const counts = new ChunkCounts(sweep, systems);
  const result = resultOf(sweep, 3);
  const { unfenced, fenced } = result.tallies;
  if (unfenced === undefined || fenced === undefined) throw new Error('the fixture has both');
  for (const other of [
    { ...result, chunk: 4 },
    { ...result, chunk: chunks },
    { ...result, to: result.to + 1 },
    { ...result, tallies: { unfenced } },
    { ...result, tallies: { unfenced, fenced: { ...fenced, seeds: 6 } } },
    { ...result, tallies: { unfenced, other: fenced } },
  ]) {
    expect(counts.offer(other).kind).toBe('foreign');
  }
  expect(counts.done).toBe(0);
});

test('from a checkpoint the counts go on as if nothing had happened', () => {
  const first = new ChunkCounts(sweep, systems);
  for (const result of all.slice(0, 5)) first.offer(result);
  const left: Checkpoint = {
    ...{ sweep, counts: first.state(), milliseconds: 12 },
    ...{ shrunk: [SHRUNK], alarm: ALARM },
  };
  const read = readCheckpoint(renderCheckpoint(left), sweepIdOf(sweep));
  expect(read).toEqual({ kind: 'checkpoint', checkpoint: left });
  if (read.kind === 'problem') throw new Error(read.what);
  const second = new ChunkCounts(sweep, systems, read.checkpoint.counts);
  expect(second.done).toBe(5);
  for (const result of all) second.offer(result);
  expect(second.tallies).toEqual(inOrder().tallies);
});

test('a checkpoint that is damaged, of another sweep or of another cut is refused', () => {
  const state = inOrder().state();
  const left = { sweep, counts: state, milliseconds: 0, shrunk: [], alarm: null };
  const text = renderCheckpoint(left);
  const id = sweepIdOf(sweep);
  expect(readCheckpoint(text.slice(0, -9), id).kind).toBe('problem');
  expect(readCheckpoint(text.replace('"seeds":100', '"seeds":101'), id).kind).toBe('problem');
  expect(readCheckpoint(text, 's0').kind).toBe('problem');
  const short = { ...left, counts: { ...state, digests: state.digests.slice(1) } };
  expect(readCheckpoint(renderCheckpoint(short), id).kind).toBe('problem');
});

const bounds = boundsOf(smallScenario(), sweep.range);
const honest = resultOf(sweep, 3);
const { from, to } = honest;
const SEEDS = 7;

function withTally(change: Partial<Tally>): ChunkResult {
  const { unfenced = EMPTY_TALLY } = honest.tallies;
  return { ...honest, tallies: { ...honest.tallies, unfenced: { ...unfenced, ...change } } };
}

function withSectionError(change: Partial<SectionErrorCount>): ChunkResult {
  const failed = [{ error: 'Error: no', place: null, count: 1, firstSeed: from, ...change }];
  return withTally({ sections: { ...NO_SECTIONS, began: 2, failed } });
}

const CLAIM = {
  ...{ broken: 0, brokenSeeds: [], unknown: 0, firstUnknown: null },
  ...{ exercised: 0, times: 0 },
};

function withClaim(change: Partial<Tally['claims'][string]>, name = 'fence-monotone'): ChunkResult {
  return withTally({ claims: { [name]: { ...CLAIM, ...change } } });
}

/** What the coordinator asks of a result. */
function isTaken(result: ChunkResult): boolean {
  return chunkResultSchema.safeParse(result).success && isPlausible(result, bounds);
}

test('what seeds really come to is plausible, however they are cut', async () => {
  const scenario = smallScenario();
  const cuts = fc.tuple(fc.integer({ min: 10, max: 109 }), fc.nat(20));
  await fc.assert(
    fc.asyncProperty(cuts, async ([first, more]) => {
      const range = { from: first, to: Math.min(first + more, 109) };
      const { tallies } = await examine(scenario, { ...range, pool: null });
      const result = { ...range, chunk: 0, milliseconds: 0, tallies: Object.fromEntries(tallies) };
      expect(isTaken(result)).toBe(true);
    }),
    { numRuns: 20 },
  );
  expect(isTaken(honest)).toBe(true);
});

const past = SEEDS + 1;
const MANY = Array.from({ length: 11 }, (_, at) => from + at);
const IMPLAUSIBLE: readonly [string, ChunkResult][] = [
  ['more broken seeds', withTally({ broken: past })],
  ['more unknown seeds', withTally({ unknown: past })],
  ['more overlapping seeds', withTally({ overlap: { seeds: past, longestUs: 1 } })],
  ['more stampeding seeds', withTally({ stampede: { seeds: past, computations: 9, most: 2 } })],
  [
    'more fired seeds',
    withTally({ faults: { pause: { fired: past, overlapped: 0, strikes: {} } } }),
  ],
  [
    'more met than fired',
    withTally({ faults: { pause: { fired: 1, overlapped: 2, strikes: {} } } }),
  ],
  ['more failed seeds', withTally({ failed: past, failures: [{ seed: from, error: '' }] })],
  ['more killed than failed', withTally({ killed: 1 })],
  ['failures without one', withTally({ failed: 1 })],
  ['a failure elsewhere', withTally({ failed: 1, failures: [{ seed: to + 1, error: '' }] })],
  ['more seeds of a claim', withClaim({ broken: past, brokenSeeds: MANY.slice(0, past) })],
  [
    'more unknown of a claim',
    withClaim({ unknown: past, firstUnknown: { seed: from, reason: '' } }),
  ],
  ['more exercised', withClaim({ exercised: past })],
  ['a broken seed elsewhere', withClaim({ broken: 1, brokenSeeds: [from - 1] })],
  ['broken seeds twice', withClaim({ broken: 2, brokenSeeds: [from, from] })],
  ['broken seeds without one', withClaim({ broken: 1 })],
  ['an unknown seed elsewhere', withClaim({ unknown: 1, firstUnknown: { seed: 9e9, reason: '' } })],
  ['an unknown seed without any', withClaim({ firstUnknown: { seed: from, reason: '' } })],
  ['a claim that nobody judges', withClaim({}, 'constructor')],
  ['so many events', withTally({ events: Number.MAX_SAFE_INTEGER })],
  ['so many computations', withTally({ stampede: { seeds: 0, computations: 2 ** 52, most: 0 } })],
  ['so many times', withClaim({ times: 2 ** 52 })],
  ['so many sections', withTally({ sections: { ...NO_SECTIONS, began: 2 ** 52 } })],
  ['more that entered than began', withTally({ sections: { ...NO_SECTIONS, entered: 1 } })],
  ['more that failed than began', withSectionError({ count: 3 })],
  ['an error that ended none', withSectionError({ count: 0 })],
  ['a section error elsewhere', withSectionError({ firstSeed: to + 1 })],
  ['a long section error', withSectionError({ error: long() })],
  ['a long error', withTally({ failed: 1, failures: [{ seed: from, error: long() }] })],
  ['a long reason', withClaim({ unknown: 1, firstUnknown: { seed: from, reason: long() } })],
];

function long(): string {
  return 'x'.repeat(MOST_TEXT + 1);
}

test.each(IMPLAUSIBLE)('a result with %s than its chunk can have is none', (_, result) => {
  expect(isTaken(result)).toBe(false);
});

test('as much from every chunk as one may have is still a sum that is exact', () => {
  const most = bounds.mostASeed * SEEDS;
  expect(isTaken(withTally({ events: most }))).toBe(true);
  expect(isTaken(withTally({ events: most + 1 }))).toBe(false);
  expect(Number.isSafeInteger(bounds.mostASeed * 100)).toBe(true);
});
