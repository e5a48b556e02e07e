import fc from 'fast-check';
import { expect, test } from 'vitest';
import { originOf } from '../../search/sweep/sealed.ts';
import {
  chunkOfJobId,
  chunksIn,
  jobIdOf,
  MOST_CHUNKS,
  rangeOfChunk,
  seedsPerChunk,
} from './chunks.ts';
import { smallScenario, smallSweep } from './sweep.fixture.ts';
import { sweepIdOf, sweepRecordSchema } from './sweep-record.ts';

const cuts = fc.record({
  range: fc
    .tuple(fc.nat(1_000_000), fc.nat(10_000))
    .map(([from, more]) => ({ from, to: from + more })),
  chunkSeeds: fc.integer({ min: 1, max: 12_000 }),
});

test('the chunks of a sweep are its seeds, each once and in order', () => {
  fc.assert(
    fc.property(cuts, (cut) => {
      let next = cut.range.from;
      for (let chunk = 0; chunk < chunksIn(cut); chunk += 1) {
        const { from, to } = rangeOfChunk(cut, chunk);
        expect(from).toBe(next);
        expect(to).toBeGreaterThanOrEqual(from);
        next = to + 1;
      }
      expect(next).toBe(cut.range.to + 1);
    }),
  );
});

test('a job’s id names its sweep and its chunk, and no other', () => {
  const ours = { sweep: 's1a', chunks: 43 };
  expect(chunkOfJobId(ours, jobIdOf('s1a', 42))).toBe(42);
  expect(chunkOfJobId({ ...ours, sweep: 's1' }, jobIdOf('s1a', 42))).toBeNull();
  const strange = ['s1a-k42', 's1a-43', 's1a-042', 's1a--1', 's1a-1e1', 's1a-', 's1a-1.5', 's1a'];
  for (const id of strange) expect(chunkOfJobId(ours, id)).toBeNull();
});

test('a record of more chunks than a sweep may have is none', () => {
  const most = smallSweep({ range: { from: 0, to: MOST_CHUNKS - 1 }, chunkSeeds: 1 });
  expect(sweepRecordSchema.safeParse(most).success).toBe(true);
  const range = { from: 0, to: MOST_CHUNKS };
  expect(sweepRecordSchema.safeParse({ ...most, range }).success).toBe(false);
});

test('a sweep’s id changes with its text, modules, version and range, and with nothing else', () => {
  const sweep = smallSweep();
  const id = sweepIdOf(sweep);
  expect(id).toMatch(/^s[0-9a-f]{15}$/);
  expect(sweepIdOf(smallSweep({ chunkSeeds: 9, file: 'elsewhere/small.yaml' }))).toBe(id);
  const { origin } = sweep;
  const others = [
    { text: `${sweep.text}\n` },
    { range: { from: 10, to: 110 } },
    { range: { from: 9, to: 109 } },
    { origin: originOf(smallScenario(), '1.0.1') },
    { origin: { ...origin, modules: { './a.mjs': 'sha256:1' } } },
  ].map((change) => sweepIdOf(smallSweep(change)));
  expect(new Set([id, ...others]).size).toBe(1 + others.length);
});

test('the order in which modules are named does not make another sweep', () => {
  const { origin } = smallSweep();
  const [one, other] = [
    { './a.mjs': 'sha256:1', './b.mjs': 'sha256:2' },
    { './b.mjs': 'sha256:2', './a.mjs': 'sha256:1' },
  ].map((modules) => sweepIdOf(smallSweep({ origin: { ...origin, modules } })));
  expect(one).toBe(other);
});

test('a chunk takes the time asked for, and a sweep never has more than a million', () => {
  const pace = { seedsPerMs: 0.5, chunkMs: 20_000 };
  expect(seedsPerChunk({ from: 0, to: 99_999_999 }, pace)).toBe(10_000);
  expect(seedsPerChunk({ from: 0, to: 99 }, pace)).toBe(100);
  const range = { from: 0, to: 1e12 };
  const chunkSeeds = seedsPerChunk(range, { seedsPerMs: 0, chunkMs: 1 });
  expect(chunksIn({ range, chunkSeeds })).toBeLessThanOrEqual(MOST_CHUNKS);
});
