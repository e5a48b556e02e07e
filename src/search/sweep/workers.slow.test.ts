/** Tests sweeps over worker threads, with the built package in `dist`. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { loadScenario } from '../../load.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import type { openPool as OpenPool, sweep as Sweep, SweepResult } from './sweep.ts';

const root = new URL('../../../', import.meta.url);
interface Built {
  readonly sweep: typeof Sweep;
  readonly openPool: typeof OpenPool;
}
const { sweep, openPool }: Built = await import(
  new URL('tools/built/modules/search/sweep/sweep.js', root).href
);

async function sweepOn(workers: number, to: number): Promise<SweepResult> {
  const pool = openPool({ workers });
  try {
    return await sweep(zombie(), { from: 0, to, pool });
  } finally {
    await pool.close();
  }
}

function zombie(): Scenario {
  const file = fileURLToPath(new URL('fixtures/zombie-writer.yaml', root));
  const read = loadScenario(readFileSync(file, 'utf8'), file);
  if (read.kind === 'problems') throw new Error('the fixture does not load');
  return read.scenario;
}

test('the number of workers does not change the result of a sweep', async () => {
  const none = await sweep(zombie(), { from: 0, to: 199, pool: null });
  const one = await sweepOn(1, 199);
  const three = await sweepOn(3, 199);
  expect(one.countsBySystem).toEqual(none.countsBySystem);
  expect(three.countsBySystem).toEqual(none.countsBySystem);
  expect(none.countsBySystem.get('unfenced')?.seeds).toBe(200);
  expect(none.countsBySystem.get('unfenced')?.broken).toBeGreaterThan(0);
});

test('a range is the sum of its parts', async () => {
  const inProcess = await sweep(zombie(), { from: 0, to: 99, pool: null });
  const low = await sweep(zombie(), { from: 0, to: 39, pool: null });
  const high = await sweep(zombie(), { from: 40, to: 99, pool: null });
  for (const [name, counts] of inProcess.countsBySystem) {
    const parts = [low.countsBySystem.get(name), high.countsBySystem.get(name)];
    expect(parts.reduce((sum, part) => sum + (part?.broken ?? 0), 0)).toBe(counts.broken);
    expect(parts.reduce((sum, part) => sum + (part?.events ?? 0), 0)).toBe(counts.events);
  }
});

test('a seed that throws, hangs or fills the heap is a finding; the rest is swept', async () => {
  const examinerUrl = new URL('src/search/sweep/troubled.fixture.mjs', root).href;
  const pool = openPool({ workers: 2, examinerUrl, stallMs: 1000, memoryMb: 64 });
  const { countsBySystem, isComplete } = await sweep(zombie(), { from: 0, to: 29, pool });
  await pool.close();
  expect(isComplete).toBe(true);
  for (const counts of countsBySystem.values()) {
    expect(counts.seeds).toBe(30);
    expect([counts.failed, counts.killed]).toEqual([3, 2]);
    expect(counts.failures.map(({ seed }) => seed)).toEqual([3, 7, 11]);
    expect(counts.failures[0]?.error).toContain('seed 3 throws');
    expect(counts.failures[1]?.error).toContain('did not finish: 4 s of CPU time without an event');
    expect(counts.failures[2]?.error).toContain('did not finish: heap out of memory');
  }
});

test('a pool serves one sweep after another', async () => {
  const pool = openPool({ workers: 2 });
  const first = await sweep(zombie(), { from: 0, to: 49, pool });
  const second = await sweep(zombie(), { from: 0, to: 49, pool });
  await pool.close();
  expect(second.countsBySystem).toEqual(first.countsBySystem);
});

test('chunks of a sweep whose worker died are not counted in the next one', async () => {
  const examinerUrl = new URL('src/search/sweep/half-dead.fixture.mjs', root).href;
  const pool = openPool({ workers: 2, examinerUrl });
  const doomed = { ...zombie(), name: 'doomed' };
  await expect(sweep(doomed, { from: 1000, to: 1999, pool })).rejects.toThrow(/worker dies/);
  const next = await sweep(zombie(), { from: 0, to: 49, pool });
  await pool.close();
  const alone = await sweep(zombie(), { from: 0, to: 49, pool: null });
  expect(next.countsBySystem).toEqual(alone.countsBySystem);
});
