/**
 * Supports runs on several machines: writes the file of `run --shard`, and merges such files. The
 * merged results and exit code are those of a run on one machine.
 */

import { readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { assert } from '../core/kernel/assert.ts';
import { renderPlan } from '../core/plan/plan-text.ts';
import { expand } from '../scenario/expand.ts';
import { campaign } from '../search/campaign/campaign.ts';
import {
  countAllPlans,
  type ExhaustedPlans,
  TooManyPlans,
  widest,
} from '../search/campaign/count-plans.ts';
import { type Exit, exits, worstOf } from '../search/campaign/exit-codes.ts';
import type { CampaignEvent, Concluded, Examined, Subject } from '../search/campaign/setting.ts';
import { SHRINK_LIMITS } from '../search/campaign/shrink-failures.ts';
import { mismatchReason, originOf } from '../search/sweep/checksummed.ts';
import { claimCounts } from '../search/sweep/counts.ts';
import { expectedOf } from '../search/sweep/expected.ts';
import {
  type Counterexample,
  type FiledShard,
  type Merge,
  type Merged,
  type MergedScenario,
  mergeShards,
  readShard,
  renderShard,
  type ScenarioShard,
  type SeedRange,
  type Shard,
  type TruncatedShard,
} from '../search/sweep/shards.ts';
import { countOf, groupDigits } from '../text/prose.ts';
import { describeIn } from './describe-failures.ts';
import { makeAll, UserError } from './exit.ts';
import { allowed, openFolder, readText, writeText } from './files.ts';
import { Interruption } from './interruption.ts';
import { keptLine } from './kept-plans.ts';
import { lastFailedIn, noteFailed } from './last-failed.ts';
import { narrator } from './narrate.ts';
import { type ReportOptions, report } from './reporting.ts';
import { narrowedTo, tooManyLine } from './run-campaign.ts';
import { type LoadedScenario, loadScenarioText, type ModuleOptions } from './sources.ts';
import { openTerminal, type Terminal } from './terminal.ts';

interface ShardOptions {
  /** The seeds of all shards. */
  readonly range: SeedRange;
  readonly shard: Shard;
  readonly version: string;
  /** The folder of kept plans, or null for `plans` beside each scenario. */
  readonly corpus: string | null;
}

export function writeShard(text: string, { index, of }: Shard, output: string): string {
  const file = join(output, `shard-${index}-of-${of}.json`);
  writeText(file, text);
  return file;
}

/** Returns the text of a shard file. `examined` contains the scenarios that were started. */
export function shardText(
  scenarios: readonly LoadedScenario[],
  examined: readonly Examined[],
  { range, shard, version, corpus }: ShardOptions,
): string {
  const parts = examined.flatMap((result, at): ScenarioShard[] => {
    const loaded = scenarios[at];
    return loaded === undefined ? [] : [scenarioShard(loaded, result, { version, corpus })];
  });
  return renderShard({ shard, range, scenarios: parts });
}

function scenarioShard(
  loaded: LoadedScenario,
  examined: Examined,
  { version, corpus }: Pick<ShardOptions, 'version' | 'corpus'>,
): ScenarioShard {
  const { countsBySystem, keptPlans, repeated, difference, plans } = examined;
  const { exhaust: scope } = loaded.scenario;
  return {
    origin: originOf(loaded.scenario, version),
    file: loaded.file,
    text: loaded.text,
    isComplete: examined.cutShort === null,
    keptPlans,
    repeated,
    difference,
    corpus,
    milliseconds: Math.round(examined.milliseconds),
    countsBySystem: Object.fromEntries(countsBySystem),
    counterexamples: counterexamplesOf(loaded, examined),
    ...(plans === null || scope === undefined
      ? {}
      : { exhausted: { scope, plans: countsOf(plans) } }),
  };
}

function countsOf(all: ReadonlyMap<string, ExhaustedPlans>): Record<string, number> {
  return Object.fromEntries([...all].map(([system, { plans }]) => [system, plans]));
}

/** Returns the plans that a merge may have to shrink. */
function counterexamplesOf(
  { scenario }: LoadedScenario,
  { countsBySystem, plans }: Examined,
): readonly Counterexample[] {
  const textOf = planTexts(scenario, plans);
  return scenario.systems.flatMap((systemScenario) => {
    const { name: system } = systemScenario;
    const { holds, breaks } = expectedOf(systemScenario);
    return [...new Set([...holds, ...breaks])].flatMap((claim) => {
      const counts = countsBySystem.get(system);
      const seeds = counts === undefined ? [] : claimCounts(counts, claim).brokenSeeds;
      return seeds
        .slice(0, SHRINK_LIMITS.seeds)
        .map((seed) => ({ system, claim, seed, plan: textOf(system, seed) }));
    });
  });
}

/** Returns a function that renders the plan of a seed, or '' if there is no such plan. */
function planTexts(
  scenario: LoadedScenario['scenario'],
  all: Examined['plans'],
): (system: string, seed: number) => string {
  return (system, seed) => {
    const counted = all?.get(system);
    if (counted === undefined) return renderPlan(expand(scenario, system, seed));
    return seed < counted.plans ? renderPlan(counted.numbered.planOf(seed)) : '';
  };
}

export interface MergeOptions extends ReportOptions, ModuleOptions {
  readonly isQuiet: boolean;
}

/** Merges the shards in files and folders. */
export async function mergePaths(paths: readonly string[], options: MergeOptions): Promise<Exit> {
  return await mergeShardFiles(await makeAll(filesIn(paths), shardIn), options);
}

/** Merges shards from any source, and reports them like `run`. */
export async function mergeShardFiles(
  shards: readonly FiledShard[],
  options: MergeOptions,
): Promise<Exit> {
  const terminal = openTerminal(options);
  const merge = mergeShards(shards);
  if (merge.kind === 'refused') throw new UserError(merge.problems);
  if (merge.kind === 'missing') {
    terminal.warn(`not merged: ${missingText(merge)}`);
    return exits.incomplete;
  }
  const scenarios: LoadedAgain[] = [];
  for (const merged of merge.merged.scenarios) {
    scenarios.push(await loadAgain(merged, { ...options, terminal }));
  }
  openFolder(options.output);
  printTruncated(merge.merged.truncated, terminal);
  return await conclude(merge.merged, scenarios, { options, terminal });
}

/** Maximum number of incomplete shards to list. */
const MOST_SHARDS_LISTED = 10;

/** Returns, for example, `shards 2, 4 of 4 missing`. Lists only the first few shards. */
export function missingText({
  first,
  count,
  of,
}: Omit<Extract<Merge, { readonly kind: 'missing' }>, 'kind'>): string {
  const named = `${count === 1 ? 'shard' : 'shards'} ${first.join(', ')}`;
  if (count === first.length) return `${named} of ${of} missing`;
  return `${named} and ${count - first.length} more (${count} of ${of}) missing`;
}

function printTruncated(truncated: readonly TruncatedShard[], terminal: Terminal): void {
  for (const { file, scenario, system, examined, seeds, trial } of truncated.slice(
    0,
    MOST_SHARDS_LISTED,
  )) {
    const share = `${groupDigits(examined)} of its ${countOf(seeds, trial)}`;
    terminal.warn(`${file}: incomplete: ${share} of ${scenario}, ${system}`);
  }
  if (truncated.length > MOST_SHARDS_LISTED)
    terminal.warn(`and ${truncated.length - MOST_SHARDS_LISTED} more`);
}

async function conclude(
  { range, scenarios, truncated }: Merged,
  loaded: readonly LoadedAgain[],
  { options, terminal }: { readonly options: MergeOptions; readonly terminal: Terminal },
): Promise<Exit> {
  const { output, reporters } = options;
  const interruption = new Interruption();
  const failedBefore = lastFailedIn(output);
  const concluded: Concluded[] = [];
  const narrate = narrator(terminal, { replaysKept: true });
  const describers = new Map(
    scenarios.map(({ file, corpus }) => [
      file,
      describeIn({ output, corpus, hasPage: reporters.has('html') }),
    ]),
  );
  const subjects = loaded.map(({ scenario }) => scenario);
  interruption.listen();
  try {
    const result = await campaign(subjects, {
      ...NOTHING_EXAMINED,
      isInterrupted: () => interruption.isInterrupted,
      describe: async (failure) => (await describers.get(failure.subject.file)?.(failure)) ?? null,
      emit: (event) => {
        if (event.kind === 'conclusion') concluded.push(event.concluded);
        narrate(event);
      },
      examined: async (subject) => {
        const at = subjects.findIndex(({ file }) => file === subject.file);
        const [merged, again] = [scenarios[at], loaded[at]];
        assert(merged !== undefined && again !== undefined, 'only merged scenarios are concluded');
        reportEarlier(merged, subject, { terminal, narrate });
        return examinedOf(merged, range, again.plans);
      },
    });
    const { exit: found } = result.summary;
    const exit = truncated.length > 0 ? worstOf([found, exits.incomplete]) : found;
    const summary = { ...result.summary, exit };
    report({ ...result, summary }, subjects, { concluded, options, terminal });
    noteFailed(concluded, failedBefore, output);
    return exit;
  } finally {
    interruption.end();
  }
}

/** The settings of a campaign whose seeds the shards have already examined. */
const NOTHING_EXAMINED = {
  range: null,
  shard: null,
  pool: null,
  keptPlans: () => [],
  repeats: { seeds: 0 },
  reusesRealms: false,
  journal: () => null,
  stop: () => null,
  findsEdges: true,
  shrinking: SHRINK_LIMITS,
} as const;

function examinedOf(
  { isComplete, countsBySystem, milliseconds, keptPlans, repeated, difference }: MergedScenario,
  seeds: SeedRange,
  plans: Examined['plans'],
): Examined {
  const range = plans === null ? seeds : widest(plans);
  const asked = range.to - range.from + 1;
  return {
    countsBySystem,
    range,
    cutShort: isComplete ? null : { asked, by: 'shard' },
    isPart: false,
    milliseconds,
    keptPlans,
    repeated,
    difference,
    plans,
  };
}

/** Repeats the lines that the shards printed about kept plans and determinism. */
function reportEarlier(
  { keptPlans, repeated, difference }: MergedScenario,
  subject: Subject,
  { terminal, narrate }: { terminal: Terminal; narrate: (event: CampaignEvent) => void },
): void {
  for (const kept of keptPlans) {
    if (kept.outcome !== kept.expected) terminal.print(keptLine(kept));
  }
  narrate({ kind: 'kept plans', subject, outcomes: keptPlans });
  narrate({ kind: 'repeated', subject, runs: repeated, difference, lost: null });
}

/** Returns all files among `paths`, and the shard files below each folder, without duplicates. */
function filesIn(paths: readonly string[]): readonly string[] {
  const files = new Map<string, string>();
  for (const path of paths) {
    for (const file of filesAt(path)) files.set(realpathSync(file), file);
  }
  if (files.size === 0) throw new UserError([`${paths.join(', ')}: no shard-…-of-….json found`]);
  return [...files.values()];
}

const SHARD_NAME = /^shard-\d+-of-\d+\.json$/;

function filesAt(path: string): readonly string[] {
  return allowed(`${path}:1:1`, () => {
    if (!statSync(path).isDirectory()) return [path];
    return readdirSync(path, { recursive: true, encoding: 'utf8' })
      .filter((name) => SHARD_NAME.test(basename(name)))
      .sort()
      .map((name) => join(path, name));
  });
}

/** Maximum size of a file. A shard contains counts and only a few plans. */
const MOST_BYTES = 100_000_000;

function shardIn(file: string): FiledShard {
  const read = readShard(readText(file, MOST_BYTES));
  if (read.kind === 'problem') throw new UserError([`${file}:1:1: file ${read.what}`]);
  return { file, shard: read.shard };
}

interface LoadedAgain {
  readonly scenario: LoadedScenario;
  /** All plans, counted again since shards contain only a few; null if seeds were examined. */
  readonly plans: Examined['plans'];
}

/** Loads the scenario of a shard from its text. Refuses a scenario that differs on this machine. */
async function loadAgain(
  merged: MergedScenario,
  options: MergeOptions & { readonly terminal: Terminal },
): Promise<LoadedAgain> {
  const { file, text, origin, exhausted } = merged;
  const loaded = await loadScenarioText({ file, text }, options);
  const scenario = exhausted === undefined ? loaded : narrowedTo(loaded, exhausted.scope);
  const refuse = (why: string | null): void => {
    if (why === null) return;
    throw new UserError([`${file}: the shards do not match this machine: ${why}`]);
  };
  refuse(mismatchReason(origin, originOf(scenario.scenario, options.version)));
  const plans = exhausted === undefined ? null : await countAgain(scenario);
  const counted = plans === null ? {} : countsOf(plans);
  const other = Object.entries(exhausted?.plans ?? {}).find(([name, n]) => counted[name] !== n);
  refuse(other === undefined ? null : `${other[0]} does not have ${other[1]} plans here`);
  refuse(whyDrawnOtherwise(merged, planTexts(scenario.scenario, plans)));
  return { scenario, plans };
}

async function countAgain({
  scenario,
  catalogue,
  file,
}: LoadedScenario): Promise<Examined['plans']> {
  const tasks = { pool: null, catalogue, isGivenUp: () => false };
  try {
    return await countAllPlans(scenario, tasks, () => undefined);
  } catch (error) {
    if (!(error instanceof TooManyPlans)) throw error;
    throw new UserError([tooManyLine({ scenario, file }, error)]);
  }
}

/** Returns how plans of the shards differ from the plans drawn here, or null if all match. */
function whyDrawnOtherwise(
  { counterexamples }: MergedScenario,
  textOf: (system: string, seed: number) => string,
): string | null {
  const other = counterexamples.find(({ system, seed, plan }) => textOf(system, seed) !== plan);
  if (other === undefined) return null;
  return `seed ${other.seed} of ${other.system} draws another plan here, so the builds differ`;
}
