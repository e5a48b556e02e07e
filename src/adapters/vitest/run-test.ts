/**
 * The stages of one test: the kept plans first, then whether runs can be repeated, then fresh
 * seeds. A seed or a plan that was wished for comes alone. Globals stay replaced for as long as the
 * test goes on, since replacing them for each run takes as long as a run.
 */
import { dirname } from 'node:path';
import timers, { setTimeout } from 'node:timers';
import type { Examination } from '../../harness.ts';
import { virtualizeGlobals } from '../../host/async/globals.ts';
import { examineAsync, watchAsync } from '../../host/async/run-async.ts';
import { tooManyText } from '../../report/exhausted.ts';
import { countPlans, NumberedPlans, type PlanCount } from '../../search/exhaust/exhaust.ts';
import { narrowed } from '../../search/exhaust/narrowed.ts';
import { repeatSeed } from '../../search/sweep/examiner.ts';
import type { SeedRange } from '../../search/sweep/shards.ts';
import { isAsync } from '../../systems/assemble.ts';
import { prepare } from '../../systems/store/store-kinds.ts';
import { requireCalmImports } from './body-modules.ts';
import { examineSeeds } from './examine-seeds.ts';
import { sequenceLines, verdictLine } from './failure-block.ts';
import { replayKeptPlans, replayWished } from './kept-plans.ts';
import type { CheckedOptions } from './options.ts';
import {
  type CountedPlans,
  letOthersRun,
  planOf,
  type SimRun,
  Stopwatch,
  trialOf,
} from './sim-run.ts';
import { Mistakes, readSubject } from './subject.ts';
import { SimTestError, seedsOf, slugOf, type TestPlace, type Wishes } from './test-place.ts';
import { haveItWatched, namedInTest, seedOf } from './watchdog.ts';

/** What vitest knows of a test. */
interface TestSetting {
  readonly place: TestPlace;
  readonly wishes: Wishes;
  readonly signal: AbortSignal;
  readonly print: (text: string) => void;
}

/** What may run before a seed does: what clients call is learned from a few. */
const FIRST = {
  what: 'seeds 0 to 2, run to learn its calls,',
  setting: 'FENCEPOST_SEED=0',
} as const;

const COUNTING = { what: 'plans, counted by running them,', setting: 'FENCEPOST_SEED=0' } as const;

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
  haveItWatched();
  return withGlobals(async () => {
    if (options.isBody) await requireCalmImports(place.file);
    const where = { folder: dirname(place.file), slug, mistakes };
    const subject = await namedInTest(place, FIRST, () => readSubject(options, where));
    const { systems, catalogue } = subject;
    if (systems.some((system) => isAsync({ system }, catalogue))) requireLiveBindings();
    await prepare(systems, catalogue);
    for (const warning of subject.warnings) print(`fencepost: warning: ${warning}`);
    const run: SimRun = {
      ...subject,
      plans: null,
      place,
      slug,
      stopwatch,
      wishes,
      mistakes,
      print,
    };
    if (options.exhaust === null) return goThroughStages(run, seeds);
    const scenario = narrowed(subject.scenario, options.exhaust);
    const plans = await countAll({ ...run, scenario });
    const to = Math.max(...[...plans.values()].map((one) => one.plans)) - 1;
    if (wishes.seed !== null && wishes.seed > to) {
      throw new SimTestError([
        `FENCEPOST_SEED: there is no plan ${wishes.seed}; the last is ${to}`,
      ]);
    }
    return goThroughStages({ ...run, scenario, plans }, { from: 0, to });
  });
}

/** The plans of each system; a `SimTestError` where there are too many, or no time is left. */
async function countAll({
  scenario,
  catalogue,
  systems,
  place,
  stopwatch,
}: SimRun): Promise<ReadonlyMap<string, CountedPlans>> {
  const all = new Map<string, CountedPlans>();
  for (const { name } of systems) {
    const shouldStop = (): boolean => stopwatch.isOver;
    const options = { catalogue, watch: watchAsync, shouldStop };
    const count = (): Promise<PlanCount> => countPlans(scenario, name, options);
    const { plans, blocks, cut } = await namedInTest(place, COUNTING, count);
    if (cut === 'too many') {
      const fewer = 'take a smaller `exhaust`, or say of how many `clients` and `sections`';
      throw new SimTestError([`exhaust: ${name}: ${tooManyText(scenario, plans)}`, fewer]);
    }
    if (cut === 'stopped') {
      const seconds = stopwatch.timeoutMs / 1000;
      throw new SimTestError([
        `timed out after ${seconds} s, as the plans of ${name} were counted`,
      ]);
    }
    all.set(name, { plans, blocks, numbered: new NumberedPlans(scenario, name, blocks) });
  }
  return all;
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
  await examineSeeds(run, seeds, broken);
  return 'passed';
}

/** Of a single seed nobody can say that it should have broken something. */
async function examineOne(run: SimRun, seed: number): Promise<void> {
  await showSeed(run, seed);
  const systems = run.systems.map((system) => ({
    ...system,
    expect: { ...system.expect, breaks: [] },
  }));
  await examineSeeds({ ...run, systems }, { from: seed, to: seed }, new Set());
}

const SEEDS = 3;
const LONGEST = 300;

/** Throws a `SimTestError` that names the first event that differs. */
async function checkDeterminism(run: SimRun, { from, to }: SeedRange): Promise<void> {
  for (const { name } of run.systems) {
    for (let seed = from; seed <= Math.min(to, from + SEEDS - 1); seed += 1) {
      await letOthersRun();
      if (run.stopwatch.isOver) return;
      const { scenario, catalogue } = run;
      const repeated = (): Promise<string | null> => repeatSeed(scenario, name, seed, catalogue);
      const difference = await namedInTest(run.place, seedOf(name, seed), repeated);
      if (difference === null) continue;
      const shown = difference.slice(0, LONGEST) + (difference.length > LONGEST ? '…' : '');
      throw new SimTestError([
        `✗ not deterministic: two runs of seed ${seed} of ${name} differ`,
        `  ${shown}`,
        'what a test keeps between runs, or imports during one, is shared by all of them',
      ]);
    }
  }
}

/** Prints the sequence of a seed of each system, and how what was expected turned out. */
async function showSeed(run: SimRun, seed: number): Promise<void> {
  for (const { name, expect } of run.systems) {
    const plan = planOf(run, name, seed);
    const claims = [...expect.holds, ...expect.breaks];
    const examined = (): Promise<Examination> => examineAsync(plan, claims, run.catalogue);
    const { trace, verdicts } = await namedInTest(run.place, seedOf(name, seed), examined);
    const broken = verdicts.find((verdict) => verdict.kind === 'invalid');
    const lines = sequenceLines(plan, trace, broken);
    const found = verdicts.map(verdictLine);
    run.print([`${trialOf(run)} ${seed} of ${name}`, '', ...lines, '', ...found].join('\n'));
  }
}

/** Runs `work`; whoever comes after it finds the globals as they were. */
async function withGlobals<R>(work: () => Promise<R>): Promise<R> {
  const restore = virtualizeGlobals();
  try {
    return await work();
  } finally {
    restore();
    await letOthersRun(); // the last run gives them back in the next turn
  }
}

/**
 * Throws a `SimTestError`, while globals are replaced, in a context of `node:vm`: there, what was
 * imported from a builtin module stays what it was.
 */
function requireLiveBindings(): void {
  if (setTimeout === timers.setTimeout) return;
  throw new SimTestError([
    'asynchronous code cannot be simulated here: builtin modules cannot be replaced in the pools',
    "vmThreads and vmForks; run this file with `pool: 'forks'` or `pool: 'threads'`",
  ]);
}
