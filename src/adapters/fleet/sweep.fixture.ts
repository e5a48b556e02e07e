/** A small sweep, and results of its chunks, for the tests of this folder. */
import { loadScenario } from '../../load.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { originOf } from '../../search/sweep/sealed.ts';
import { EMPTY_TALLY, type Tally } from '../../search/sweep/tally.ts';
import { rangeOfChunk } from './chunks.ts';
import type { ChunkResult } from './sweep-queue.ts';
import type { SweepRecord } from './sweep-record.ts';

const TEXT = `
name: small
systems:
  unfenced: { lock: lock-service, store: unfenced, expect: { breaks: [fence-monotone] } }
  fenced: { lock: lock-service, store: fenced, expect: { holds: [fence-monotone] } }
clients: { count: 2, ttl: 10ms, sections: 2, think: 0ms..10ms }
workload: { kind: blind-writes }
network: { latency: 1ms..2ms }
faults: [{ pause: { process: clients, before: write, for: 1ms..40ms, chance: 1/2 } }]
`;

export function smallScenario(): Scenario {
  const read = loadScenario(TEXT, 'small.yaml');
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return read.scenario;
}

export function smallSweep(change: Partial<SweepRecord> = {}): SweepRecord {
  return {
    origin: originOf(smallScenario(), '1.0.0'),
    ...{ file: 'small.yaml', text: TEXT },
    range: { from: 10, to: 109 },
    chunkSeeds: 7,
    ...change,
  };
}

/** Every third seed breaks the claim of the first system. */
export function resultOf(sweep: SweepRecord, chunk: number): ChunkResult {
  const { from, to } = rangeOfChunk(sweep, chunk);
  const seeds = Array.from({ length: to - from + 1 }, (_, at) => from + at);
  const brokenSeeds = seeds.filter((seed) => seed % 3 === 0);
  const tally: Tally = { ...EMPTY_TALLY, seeds: seeds.length, events: from };
  const claim = { unknown: 0, firstUnknown: null, exercised: seeds.length, times: from };
  const unfenced: Tally = {
    ...{ ...tally, broken: brokenSeeds.length },
    claims: { 'fence-monotone': { ...claim, broken: brokenSeeds.length, brokenSeeds } },
  };
  return { chunk, from, to, tallies: { unfenced, fenced: tally }, milliseconds: chunk };
}
