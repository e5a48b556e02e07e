/**
 * Turns a seed that broke a claim into a finding: shrunk, explained, ready to be replayed and kept.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Plan } from '../core/plan/plan.ts';
import type { ShrinkResult } from '../core/shrink/shrink.ts';
import { isSimpler } from '../core/shrink/simpler.ts';
import { expectsBreach } from '../harness.ts';
import { type ShrinkAsyncOptions, shrinkFailureAsync } from '../host/async/examine-async.ts';
import { pinAsync } from '../host/async/run-async.ts';
import { describeShrunk, type FindingPlace, type Shrunk } from '../report/describe-finding.ts';
import type { Finding } from '../report/finding.ts';
import { replayCommand, shellWords } from '../report/finding.ts';
import { siblingLine } from '../report/sibling-text.ts';
import { drawsNothing, expand } from '../scenario/expand.ts';
import { runSiblings } from '../search/corpus/siblings.ts';
import type { Shard } from '../search/sweep/shard.ts';
import { breathe } from './breathe.ts';
import type { LoadedScenario } from './files.ts';
import { plansFolderOf } from './shipped.ts';

export interface Failing {
  readonly system: string;
  readonly claim: string;
  /** Seeds that broke it, at least one; the simplest counterexample of the first few is taken. */
  readonly seeds: readonly number[];
  /** What a seed shrinks to, where somebody did that before; absent where nobody did. */
  readonly shrunkBefore?: (seed: number) => Promise<ShrunkBefore | null>;
}

/** A plan that was shrunk before, known to break its claim. */
export type ShrunkBefore = Shrunk['result'];

export interface Folders {
  /** Where plans and pages are written. */
  readonly output: string;
  /** Where plans are kept; null for `plans` beside their scenario. */
  readonly corpus: string | null;
}

/**
 * Seeds that are shrunk to find the simplest counterexample; one seed may be stuck with two faults.
 */
export const SEEDS_TRIED = 3;

/**
 * The simplest counterexample that the first few seeds shrink to; null when none broke it again.
 */
export async function findCounterexample(
  loaded: Pick<LoadedScenario, 'scenario' | 'file' | 'catalogue'>,
  failing: Failing,
  folders: Folders,
  shouldStop: () => boolean,
): Promise<Finding | null> {
  const { catalogue } = loaded;
  const options = { shouldStop, catalogue, breathe };
  const isWritten = drawsNothing(loaded.scenario, failing.system);
  let best: { seed: number; original: Plan; result: ShrunkBefore } | null = null;
  for (const seed of failing.seeds.slice(0, SEEDS_TRIED)) {
    const original = expand(loaded.scenario, failing.system, seed);
    if (shouldStop()) break;
    if (isWritten) {
      best = { seed, original, result: await asWritten(original, failing.claim, catalogue) };
      break;
    }
    const before = (await failing.shrunkBefore?.(seed)) ?? null;
    const result = before ?? (await shrinkOf(original, failing.claim, options));
    if (result === null) continue;
    if (best === null || isSimpler(result.plan, best.result.plan))
      best = { seed, original, result };
  }
  if (best === null) return null;
  const { seed, original, result } = best;
  const place = { scenario: loaded.scenario.name, scenarioFile: loaded.file, seed };
  const found = { ...place, original, result, claim: failing.claim, catalogue };
  const systems = loaded.scenario.systems.map(({ name }) => name);
  const finding = await describeShrunk(found, placeOf(found, systems, folders));
  return finding === null ? null : await withSiblings(finding, loaded);
}

/** The plan of a scenario that leaves nothing to draw: who wrote it meant each of its events. */
async function asWritten(
  original: Plan,
  claim: string,
  catalogue: LoadedScenario['catalogue'],
): Promise<ShrunkBefore> {
  const plan = expectsBreach(await pinAsync(original, catalogue), claim);
  const whyNoBoundary = 'told as it is written: the scenario leaves nothing to draw, nor to shrink';
  return { plan, boundary: null, whyNoBoundary };
}

/** The finding with what the same plan does on the systems that must hold. */
async function withSiblings(
  finding: Finding,
  { scenario, catalogue }: Pick<LoadedScenario, 'scenario' | 'catalogue'>,
): Promise<Finding> {
  const siblings = await runSiblings(scenario, finding, catalogue);
  if (siblings.length === 0) return finding;
  return { ...finding, siblings: siblings.map((one) => siblingLine(one, finding.trace)) };
}

async function shrinkOf(
  original: Plan,
  claim: string,
  options: ShrinkAsyncOptions,
): Promise<ShrinkResult | null> {
  const result = await shrinkFailureAsync(original, claim, options);
  return result.reproduced === true ? result : null;
}

/** Where the files of a finding are written. */
function placeOf(
  found: Shrunk,
  systems: readonly string[],
  { output, corpus }: Folders,
): FindingPlace {
  const { scenario, scenarioFile, claim, result } = found;
  const { plan } = result;
  const kind = { system: plan.system.name, claim };
  const planFile = planFileOf(kind, { scenario, systems, output });
  const keptIn = `${corpus ?? plansFolderOf(scenarioFile)}/`;
  const command = shellWords(replayCommand({ plan, planFile, scenarioFile })).join(' ');
  const pageFile = pageFileOf(output, scenario);
  return { planFile, pageFile, keptIn, isKeptInNew: !existsSync(keptIn), command };
}

/** Where the plan of a kind of failure is written; `systems` are all of the scenario's. */
export function planFileOf(
  { system, claim }: Pick<Failing, 'system' | 'claim'>,
  {
    scenario,
    systems,
    output,
  }: { readonly scenario: string; readonly systems: readonly string[]; readonly output: string },
): string {
  return join(output, `${fileName([scenario, ownName(system, systems), claim])}.yaml`);
}

/** A name as part of a file's name, numbered where an earlier one of `names` gives the same. */
export function ownName(name: string, names: readonly string[]): string {
  const taken = new Set<string>();
  for (const other of [...names, name]) {
    const plain = fileName([other]);
    let own = plain;
    for (let number = 2; taken.has(own); number += 1) own = `${plain}-${number}`;
    if (other === name) return own;
    taken.add(own);
  }
  return fileName([name]);
}

/** Where the page of a scenario is written. */
export function pageFileOf(output: string, scenario: string): string {
  return join(output, `${fileName([scenario])}.html`);
}

/** Where the journal of a sweep is kept while it is under way. */
export function journalFileOf(output: string, scenario: string, shard: Shard | null): string {
  const part = shard === null ? [] : [`shard-${shard.index}-of-${shard.of}`];
  return join(output, `${fileName([scenario, ...part])}.journal`);
}

/**
 * Names as one that any file system takes: `zombie-writer-unfenced-linearizable-register`. A name
 * of which nothing can be taken, such as `..`, is `unnamed`.
 */
export function fileName(parts: readonly string[]): string {
  return parts
    .map((part) => part.replace(/[^\p{L}\p{N}_.]+/gu, '-').replace(/^[-.]+|-+$/g, ''))
    .map((part) => (part === '' ? 'unnamed' : part))
    .join('-');
}
