/**
 * Runs one test: reads its subject, then goes through its campaign, or replays the one plan that
 * was asked for. Globals stay replaced for as long as the test goes on, since replacing them for
 * each run takes as long as a run.
 */
import { dirname } from 'node:path';
import timers, { setTimeout } from 'node:timers';
import { yieldToEventLoop } from '../../host/async/ambient.ts';
import { virtualizeGlobals } from '../../host/async/globals.ts';
import { narrowed } from '../../search/exhaust/narrowed.ts';
import { isAsync } from '../../systems/assemble.ts';
import { prepare } from '../../systems/store/store-kinds.ts';
import { requireCalmImports } from './body-modules.ts';
import { replayWished } from './kept-plans.ts';
import type { CheckedOptions } from './options.ts';
import { type SimRun, Stopwatch } from './sim-run.ts';
import { Mistakes, readSubject } from './subject.ts';
import { runTestCampaign } from './test-campaign.ts';
import { SimTestError, seedsOf, slugOf, type TestPlace, type Wishes } from './test-place.ts';
import { haveItWatched, namedInTest } from './watchdog.ts';

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
    const { exhaust } = options;
    const scenario = exhaust === null ? subject.scenario : narrowed(subject.scenario, exhaust);
    const run: SimRun = { ...subject, scenario, place, slug, stopwatch, wishes, mistakes, print };
    if (wishes.planFile !== null) {
      return (await replayWished(wishes.planFile, run)) ? 'passed' : 'foreign';
    }
    const { seed } = wishes;
    const one = seed === null ? null : { from: seed, to: seed };
    await runTestCampaign(run, one ?? (exhaust === null ? seeds : null));
    return 'passed';
  });
}

/** Runs `work`; whoever comes after it finds the globals as they were. */
async function withGlobals<R>(work: () => Promise<R>): Promise<R> {
  const restore = virtualizeGlobals();
  try {
    return await work();
  } finally {
    restore();
    await yieldToEventLoop(); // the last run gives them back in the next turn
  }
}

/** Throws a `SimTestError` in a context of `node:vm`, where imports of builtins stay real. */
function requireLiveBindings(): void {
  if (setTimeout === timers.setTimeout) return;
  throw new SimTestError([
    'asynchronous code cannot be simulated here: builtin modules cannot be replaced in the pools',
    "vmThreads and vmForks; run this file with `pool: 'forks'` or `pool: 'threads'`",
  ]);
}
