import { expect, test } from 'vitest';
import { sweep } from '../../src/search/sweep/sweep.ts';
import { catalogue, queueScenario } from './queue.ts';

/** Jobs take less than half a lease: only a paused worker commits late. */
const PAUSE = '  - pause: { process: w1, at: 100ms..2s, for: 3s..6s }\n';
const CLAIMS = ['no-loss', 'exactly-once', 'no-zombie-writes', 'convergence'] as const;

test('a queue keeps its promises only if its store refuses late and second commits', async () => {
  const range = { from: 0, to: 149, pool: null, catalogue };
  const { countsBySystem } = await sweep(queueScenario(PAUSE), range);
  const brokenBy = (system: string): readonly string[] =>
    CLAIMS.filter((claim) => (countsBySystem.get(system)?.claims[claim]?.broken ?? 0) > 0);
  expect(brokenBy('fenced')).toEqual([]);
  expect(brokenBy('trusting')).toEqual(['exactly-once', 'no-zombie-writes']);
  const tested = CLAIMS.map((claim) => countsBySystem.get('fenced')?.claims[claim]?.exercised ?? 0);
  expect(Math.min(...tested)).toBeGreaterThan(100);
});
