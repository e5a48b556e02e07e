/** Writes what a shard of a run came to, so that `fencepost merge` can put the shards together. */
import { join } from 'node:path';
import { renderPlan } from '../core/plan/plan-text.ts';
import { expand } from '../scenario/expand.ts';
import { originOf } from '../search/sweep/origin.ts';
import type { SeedRange, Shard } from '../search/sweep/shard.ts';
import {
  type Counterexample,
  renderShard,
  type ScenarioShard,
} from '../search/sweep/shard-file.ts';
import { claimTally } from '../search/sweep/tally.ts';
import type { Examined, ScenarioOutcome } from './conclude.ts';
import { type LoadedScenario, writeText } from './files.ts';
import { SEEDS_TRIED } from './find.ts';

export interface ShardOptions {
  /** The seeds of all shards. */
  readonly range: SeedRange;
  readonly shard: Shard;
  readonly output: string;
  /** Of fencepost. */
  readonly version: string;
}

/** Writes the file of a shard and gives its name. */
export function writeShard(
  scenarios: readonly LoadedScenario[],
  outcomes: readonly ScenarioOutcome[],
  { range, shard, output, version }: ShardOptions,
): string {
  const parts = outcomes.flatMap(({ examined }, at): ScenarioShard[] => {
    const loaded = scenarios[at];
    return loaded === undefined ? [] : [scenarioShard(loaded, examined, version)];
  });
  const file = join(output, `shard-${shard.index}-of-${shard.of}.json`);
  writeText(file, renderShard({ shard, range, scenarios: parts }));
  return file;
}

function scenarioShard(loaded: LoadedScenario, examined: Examined, version: string): ScenarioShard {
  const { isWhole, tallies, keptPlans, repeated, difference, corpus = null } = examined;
  return {
    origin: originOf(loaded.scenario, version),
    file: loaded.file,
    text: loaded.text,
    ...{ isWhole, keptPlans, repeated, difference, corpus },
    milliseconds: Math.round(examined.milliseconds),
    tallies: Object.fromEntries(tallies),
    counterexamples: counterexamplesOf(loaded, tallies),
  };
}

/** The plans of the seeds that a merge may have to shrink, as they were drawn. */
function counterexamplesOf(
  { scenario }: LoadedScenario,
  tallies: Examined['tallies'],
): readonly Counterexample[] {
  return scenario.systems.flatMap(({ name: system, expect }) =>
    [...new Set([...expect.holds, ...expect.breaks])].flatMap((claim) => {
      const tally = tallies.get(system);
      const seeds = tally === undefined ? [] : claimTally(tally, claim).brokenSeeds;
      return seeds.slice(0, SEEDS_TRIED).map((seed) => ({
        ...{ system, claim, seed },
        plan: drawnPlan(scenario, system, seed),
      }));
    }),
  );
}

/** The plan of a seed as text: two builds that draw another one are not of one version. */
export function drawnPlan(
  scenario: LoadedScenario['scenario'],
  system: string,
  seed: number,
): string {
  return renderPlan(expand(scenario, system, seed));
}
