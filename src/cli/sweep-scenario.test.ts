/** What becomes of a scenario on a queue where others sweep it too. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { rangeOfChunk } from '../adapters/fleet/chunks.ts';
import type { FleetResult } from '../adapters/fleet/coordinate.ts';
import { MemoryQueue } from '../adapters/fleet/memory-queue.fixture.ts';
import { smallScenario, smallSweep } from '../adapters/fleet/sweep.fixture.ts';
import type { ChunkJob, ChunkResult, ShrinkJob } from '../adapters/fleet/sweep-queue.ts';
import { sweepIdOf } from '../adapters/fleet/sweep-record.ts';
import { builtIn } from '../catalogue.ts';
import { sweep as examine, openPool } from '../search/sweep/sweep.ts';
import { EMPTY_TALLY } from '../search/sweep/tally.ts';
import { type FleetContext, type FleetOptions, restText, sweepScenario } from './sweep-scenario.ts';
import { openTerminal } from './terminal.ts';

const sweep = smallSweep();
const id = sweepIdOf(sweep);
const scenario = smallScenario();
const loaded = { file: sweep.file, text: sweep.text, scenario, catalogue: builtIn, warnings: [] };
let output = '';

beforeAll(() => {
  output = mkdtempSync(join(tmpdir(), 'fencepost-'));
});

afterAll(() => rmSync(output, { recursive: true }));

/** What each chunk comes to, if it is cut as `sweep` says. */
async function resultsOf(chunks: number): Promise<readonly ChunkResult[]> {
  const results: ChunkResult[] = [];
  for (let chunk = 0; chunk < chunks; chunk += 1) {
    const range = rangeOfChunk(sweep, chunk);
    const { tallies } = await examine(scenario, { ...range, pool: null });
    results.push({ chunk, ...range, milliseconds: 0, tallies: Object.fromEntries(tallies) });
  }
  return results;
}

function contextOf(queue: MemoryQueue, notes: string[]): FleetContext {
  const terminal = openTerminal({ isQuiet: true, isJson: true });
  return {
    opened: {
      ...{ queue, patient: () => queue, close: async () => {}, shown: 'redis://q' },
      safe: (text) => text,
    },
    pool: openPool({ workers: 0 }),
    options: {
      ...{
        ...sweep.range,
        output,
        workers: null,
        reporters: new Set(),
        queue: 'redis://q',
        chunkMs: 1,
      },
      ...{ isJson: true, isQuiet: true, isVerbose: false, corpus: null, version: '1.0.0' },
      modules: null,
    },
    terminal: { ...terminal, note: (line) => notes.push(line) },
    interruption: { isInterrupted: false, signal: new AbortController().signal },
    ownPlans: new Set(),
  };
}

test('a sweep that was announced with other chunks meanwhile is begun again with those', async () => {
  const queue = new MemoryQueue();
  await queue.announce(id, sweep);
  const isCutOtherwise = { ...sweep, chunkSeeds: 9 };
  const read = queue.sweep.bind(queue);
  let looks = 0;
  queue.sweep = async (sweepId) => {
    looks += 1;
    if (looks > 1) return await read(sweepId);
    return { id, entry: { sweep: isCutOtherwise, state: 'running' }, progress: null };
  };
  const results = await resultsOf(15);
  const work = (job: ChunkJob | ShrinkJob): unknown =>
    job.kind === 'chunk' ? results[job.chunk] : null;
  const worker = setInterval(() => queue.work(work), 5);
  const notes: string[] = [];
  const swept = await sweepScenario(loaded, contextOf(queue, notes));
  clearInterval(worker);
  expect(notes).toContain('  was announced with other chunks elsewhere: begins again with those');
  expect(notes).toContain(`  sweep ${id}: 12 chunks of 9 seeds`);
  expect(notes).toContain(`  sweep ${id}: 15 chunks of 7 seeds`);
  expect(swept.rest).toBeNull();
  const whole = await examine(scenario, { ...sweep.range, pool: null });
  expect(swept.outcome.examined.tallies).toEqual(whole.tallies);
  expect(queue.records.size).toBe(0);
});

afterEach(() => vi.unstubAllEnvs());

describe('what is left of a sweep', () => {
  const QUEUE = 'redis://h:1';
  const scenario = { ...smallScenario(), use: { './own.mjs': 'sha256:0' } };
  const loaded = { file: 'x/small.yaml', text: '', scenario, catalogue: builtIn, warnings: [] };
  const options: FleetOptions = {
    ...{ from: 1, to: 10_000, workers: null, output: 'reports', reporters: new Set() },
    ...{ isJson: false, isQuiet: false, isVerbose: false, corpus: null, version: '0' },
    ...{ modules: null, queue: QUEUE, chunkMs: 1 },
  };

  function rest(end: FleetResult['end'], isAnnounced: boolean): string | null {
    const tallies = new Map(
      scenario.systems.map(({ name }, at) => [name, { ...EMPTY_TALLY, seeds: 1312 + at }]),
    );
    const result = { end, tallies, lost: new Map(), alarm: null, shrunk: [], milliseconds: 1 };
    return restText(loaded, { result, id: 's0123', file: null, isAnnounced }, options);
  }

  test('of a whole sweep nothing is left', () => {
    expect(rest('whole', true)).toBeNull();
  });

  test('who stopped or left a sweep is told the whole command that goes on', () => {
    vi.stubEnv('FENCEPOST_QUEUE', QUEUE);
    for (const end of ['stopped', 'left'] as const) {
      expect(rest(end, true)).toBe(
        'small: 1,312 of 10,000 seeds; go on with: ' +
          'npx --no-install fencepost sweep resume s0123 --modules x',
      );
    }
  });

  test('what is on no queue is not said to be resumed from one', () => {
    expect(rest('left', false)).toBe('small: 1,312 of 10,000 seeds; the same command goes on');
    expect(rest('lost', true)).toBe(
      'small: 1,312 of 10,000 seeds; the same command tries the others again',
    );
  });
});
