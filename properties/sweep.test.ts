/** Laws of sweeps over worker threads, on the built package in `dist`. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { loadScenario } from '../src/load.ts';
import type { Scenario } from '../src/scenario/scenario.ts';
import type { sweep as Sweep } from '../src/sweep/sweep.ts';

const root = new URL('../', import.meta.url);
const { sweep }: { sweep: typeof Sweep } = await import(new URL('dist/sweep/sweep.js', root).href);

function zombie(): Scenario {
  const file = fileURLToPath(new URL('fixtures/zombie-writer.yaml', root));
  const read = loadScenario(readFileSync(file, 'utf8'), file);
  if (read.kind === 'problems') throw new Error('the fixture does not load');
  return read.scenario;
}

test('the number of workers does not change what a sweep finds', async () => {
  const range = { from: 0, to: 199 };
  const none = await sweep(zombie(), { ...range, workers: 0 });
  const one = await sweep(zombie(), { ...range, workers: 1 });
  const three = await sweep(zombie(), { ...range, workers: 3 });
  expect(one.tallies).toEqual(none.tallies);
  expect(three.tallies).toEqual(none.tallies);
  expect(none.tallies.get('unfenced')?.seeds).toBe(200);
  expect(none.tallies.get('unfenced')?.broken).toBeGreaterThan(0);
});

test('a range is the sum of its parts', async () => {
  const whole = await sweep(zombie(), { from: 0, to: 99, workers: 0 });
  const low = await sweep(zombie(), { from: 0, to: 39, workers: 0 });
  const high = await sweep(zombie(), { from: 40, to: 99, workers: 0 });
  for (const [name, tally] of whole.tallies) {
    const parts = [low.tallies.get(name), high.tallies.get(name)];
    expect(parts.reduce((sum, part) => sum + (part?.broken ?? 0), 0)).toBe(tally.broken);
    expect(parts.reduce((sum, part) => sum + (part?.events ?? 0), 0)).toBe(tally.events);
  }
});

test('a seed that throws, hangs or uses up the memory is a finding, and the sweep goes on', async () => {
  const { tallies, isWhole } = await sweep(zombie(), {
    from: 0,
    to: 29,
    workers: 2,
    examinerUrl: new URL('properties/examiners/troubled.mjs', root).href,
    seedTimeoutMs: 1000,
    memoryMb: 64,
  });
  expect(isWhole).toBe(true);
  for (const tally of tallies.values()) {
    expect(tally.seeds).toBe(30);
    expect(tally.failed).toBe(3);
    expect(tally.failures.map(({ seed }) => seed)).toEqual([3, 7, 11]);
    expect(tally.failures[0]?.error).toContain('seed 3 throws');
    expect(tally.failures[1]?.error).toContain('did not end within 1 s');
    expect(tally.failures[2]?.error).toContain('memory');
  }
});
