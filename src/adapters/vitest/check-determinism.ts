/** Repeats a few seeds: a run whose events differ tells nothing, and could not be replayed. */
import { repeatSeed } from '../../search/sweep/determinism.ts';
import type { SeedRange } from '../../search/sweep/shard.ts';
import type { SimRun } from './sim-run.ts';
import { SimTestError } from './sim-test-error.ts';
import { breathe } from './stopwatch.ts';

const SEEDS = 3;
const LONGEST = 300;

/** Throws a `SimTestError` that names the first event that differs. */
export async function checkDeterminism(run: SimRun, { from, to }: SeedRange): Promise<void> {
  for (const { name } of run.systems) {
    for (let seed = from; seed <= Math.min(to, from + SEEDS - 1); seed += 1) {
      await breathe();
      if (run.stopwatch.isOver) return;
      const difference = await repeatSeed(run.scenario, name, seed, run.catalogue);
      if (difference === null) continue;
      throw new SimTestError([
        `✗ not deterministic: two runs of seed ${seed} of ${name} differ`,
        `  ${clipped(difference)}`,
        'what a test keeps between runs, or imports during one, is shared by all of them',
      ]);
    }
  }
}

function clipped(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
