/**
 * Checks before a sweep that each run is a function of its plan. Runs a few seeds twice, and tests
 * whether seeds can share the realms of user modules.
 */
import { yieldToEventLoop } from '../../host/async/ambient.ts';
import { BLOCK_SEEDS } from '../../host/realm/realm-blocks.ts';
import { whyRefused } from '../../run.ts';
import { expand } from '../../scenario/expand.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import type { RunDifference, SeedRange } from '../sweep/shards.ts';
import { canReuse } from '../sweep/stateful-modules.ts';
import { performTask, type TaskContext } from '../sweep/tasks.ts';

/** The number of seeds per system to run twice. */
export interface Repeats {
  readonly seeds: number;
}

/** Repeats all seeds, for `--check-determinism`. */
export const ALL_REPEATED: Repeats = { seeds: Infinity };

export interface SelfCheck {
  readonly repeated: number;
  readonly difference: RunDifference | null;
  /** The run that did not finish and the reason, or null if all runs finished. */
  readonly lost: string | null;
}

/** Runs seeds of `part` twice, and stops at the first difference. */
export async function selfCheck(
  scenario: Scenario,
  { from, to }: SeedRange,
  { seeds }: Repeats,
  tasks: TaskContext,
): Promise<SelfCheck> {
  const last = Math.min(to, from + seeds - 1);
  let repeated = 0;
  for (const { name: system } of scenario.systems) {
    for (let seed = from; seed <= last; seed += 1) {
      await yieldToEventLoop();
      if (tasks.isGivenUp()) break;
      if (whyRefused(expand(scenario, system, seed), tasks.catalogue) !== null) continue;
      const end = await performTask({ kind: 'repeat', scenario, system, seed }, tasks);
      if (end.kind === 'lost') {
        return { repeated, difference: null, lost: `${end.where}: ${end.why}` };
      }
      if (end.kind !== 'repeated') continue; // the sweep reports this error with its seed
      repeated += 1;
      const { difference: what } = end;
      if (what !== null) return { repeated, difference: { system, seed, what }, lost: null };
    }
  }
  return { repeated, difference: null, lost: null };
}

/** Number of compared blocks, spread evenly over the range. */
const COMPARED_BLOCKS = 3;
const COMPARED_SEEDS = 8;
/** With `--check-determinism`, one in this many blocks is compared completely. */
const SHARE = 8;

/** The result of comparing reused realms with new realms for a system. */
export interface ReuseCheck {
  readonly system: string;
  /** The number of seeds with the same result in reused and new realms. */
  readonly same: number;
  /** The reason why each seed gets new realms. Null if realms are reused. */
  readonly why: string | null;
}

/**
 * Compares seeds run in reused realms with the same seeds in new realms, for each system with
 * modules. Unless `isThorough`, the choice of seeds depends only on `all`, so every shard gets the
 * same result.
 */
export async function checkReuse(
  scenario: Scenario,
  ranges: { readonly all: SeedRange; readonly part: SeedRange },
  isThorough: boolean,
  tasks: TaskContext,
): Promise<readonly ReuseCheck[]> {
  const checks: ReuseCheck[] = [];
  let lost: string | null = null;
  for (const { name: system } of scenario.systems) {
    if (ranges.all.to <= ranges.all.from || !canReuse(scenario, system, tasks.catalogue)) continue;
    let same = 0;
    let why: string | null = lost;
    for (const { from, seeds } of blocksToCompare(ranges, isThorough)) {
      if (tasks.isGivenUp() || why !== null) break;
      const end = await performTask({ kind: 'compare', scenario, system, from, seeds }, tasks);
      if (end.kind === 'lost') {
        lost = `${end.where}: ${end.why}`;
        why = lost;
      } else if (end.kind !== 'compared') why = 'comparison failed';
      else if (end.keeper !== null) {
        const { seed, name, what } = end.keeper;
        const keeperName = name ?? 'a package';
        why = `${keeperName} keeps state between seeds (seed ${seed}: ${what})`;
      } else same += end.same;
    }
    checks.push({ system, same, why: why ?? (tasks.isGivenUp() ? 'interrupted' : null) });
  }
  return checks;
}

interface ComparedBlock {
  readonly from: number;
  readonly seeds: number;
}

function blocksToCompare(
  { all, part }: { readonly all: SeedRange; readonly part: SeedRange },
  isThorough: boolean,
): readonly ComparedBlock[] {
  const compared: ComparedBlock[] = [];
  const last = blockOf(all.to) - blockOf(all.from);
  for (let at = 0; at < COMPARED_BLOCKS; at += 1) {
    const block = blockOf(all.from) + Math.floor((last * at) / (COMPARED_BLOCKS - 1));
    const from = block * BLOCK_SEEDS;
    if (compared.at(-1)?.from !== from) compared.push({ from, seeds: COMPARED_SEEDS });
  }
  if (!isThorough) return compared;
  for (let block = blockOf(part.from); block <= blockOf(part.to); block += SHARE) {
    compared.push({ from: block * BLOCK_SEEDS, seeds: BLOCK_SEEDS });
  }
  return compared;
}

function blockOf(seed: number): number {
  return Math.floor(seed / BLOCK_SEEDS);
}
