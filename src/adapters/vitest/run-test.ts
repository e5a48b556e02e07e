/**
 * The stages of one test: the kept plans first, then whether runs can be repeated, then fresh
 * seeds. A seed or a plan that was wished for comes alone.
 */
import { dirname } from 'node:path';
import type { SeedRange } from '../../search/sweep/shard.ts';
import { isAsync } from '../../systems/assemble.ts';
import { prepare } from '../../systems/store/store-kinds.ts';
import { checkDeterminism } from './check-determinism.ts';
import type { CheckedOptions } from './check-options.ts';
import { examineSeeds } from './examine-seeds.ts';
import { requireLiveBindings, withGlobals } from './hold-globals.ts';
import { Mistakes } from './mistakes.ts';
import { replayKeptPlans, replayWished } from './replay-kept.ts';
import { showSeed } from './show-seed.ts';
import type { SimRun } from './sim-run.ts';
import { Stopwatch } from './stopwatch.ts';
import { readSubject } from './subject.ts';
import { slugOf, type TestPlace } from './test-place.ts';
import { seedsOf, type Wishes } from './wishes.ts';

/** What vitest knows of a test. */
export interface TestSetting {
  readonly place: TestPlace;
  readonly wishes: Wishes;
  readonly signal: AbortSignal;
  readonly print: (text: string) => void;
}

/** `foreign`: the plan that was wished for is of another test. */
export type TestEnd = 'passed' | 'foreign';

/** Throws a `SimTestError` where an expectation is not met, or nothing could be judged. */
export async function runTest(options: CheckedOptions, setting: TestSetting): Promise<TestEnd> {
  const { place, wishes, signal, print } = setting;
  const { timeoutMs, budgetMs } = options;
  const seeds = seedsOf(options.seeds, wishes); // a mistake in them is told before all else
  const stopwatch = new Stopwatch({ timeoutMs, budgetMs, signal });
  const mistakes = new Mistakes();
  const slug = slugOf(place);
  return withGlobals(async () => {
    const subject = await readSubject(options, { folder: dirname(place.file), slug, mistakes });
    const { systems, catalogue } = subject;
    if (systems.some((system) => isAsync({ system }, catalogue))) requireLiveBindings();
    await prepare(systems, catalogue);
    const run: SimRun = { ...subject, place, slug, stopwatch, wishes, mistakes, print };
    return goThroughStages(run, seeds);
  });
}

async function goThroughStages(run: SimRun, seeds: SeedRange): Promise<TestEnd> {
  const { wishes } = run;
  if (wishes.planFile !== null) {
    return (await replayWished(wishes.planFile, run)) ? 'passed' : 'foreign';
  }
  if (wishes.seed !== null) {
    await examineOne(run, wishes.seed);
    return 'passed';
  }
  const broken = await replayKeptPlans(run);
  await checkDeterminism(run, seeds);
  await examineSeeds(run, seeds, { broken });
  return 'passed';
}

/** Of a single seed nobody can say that it should have broken something. */
async function examineOne(run: SimRun, seed: number): Promise<void> {
  await showSeed(run, seed);
  const systems = run.systems.map((system) => ({
    ...system,
    expect: { ...system.expect, breaks: [] },
  }));
  await examineSeeds({ ...run, systems }, { from: seed, to: seed }, { broken: new Set() });
}
