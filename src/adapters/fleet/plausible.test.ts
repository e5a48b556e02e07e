import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sweep as examine } from '../../search/sweep/sweep.ts';
import { EMPTY_TALLY, type Tally } from '../../search/sweep/tally.ts';
import { MOST_TEXT } from '../../text/error-text.ts';
import { type ChunkResult, chunkResultSchema } from './chunk-result.ts';
import { boundsOf, isPlausible } from './plausible.ts';
import { resultOf, smallScenario, smallSweep } from './sweep.fixture.ts';

const sweep = smallSweep();
const bounds = boundsOf(smallScenario(), sweep.range);
const honest = resultOf(sweep, 3);
const { from, to } = honest;
const SEEDS = 7;

function withTally(change: Partial<Tally>): ChunkResult {
  const { unfenced = EMPTY_TALLY } = honest.tallies;
  return { ...honest, tallies: { ...honest.tallies, unfenced: { ...unfenced, ...change } } };
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
  ['more struck seeds', withTally({ faults: { pause: { fired: past, overlapped: 0 } } })],
  ['more met than struck', withTally({ faults: { pause: { fired: 1, overlapped: 2 } } })],
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
