/**
 * Checks before a sweep that runs are functions of their plans: a few seeds are run twice, and of
 * users' modules it is found out whether realms can be used again from one seed to the next.
 */
import { yieldToEventLoop } from '../../host/async/ambient.ts';
import { BLOCK_SEEDS } from '../../host/realm/realm-blocks.ts';
import { whyRefused } from '../../run.ts';
import { expand } from '../../scenario/expand.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { canReuse } from '../sweep/keepers.ts';
import type { RunDifference, SeedRange } from '../sweep/shards.ts';
import { performTask, type TaskContext } from '../sweep/tasks.ts';

/** The number of seeds of each system that are run twice. */
export interface Repeats {
  readonly seeds: number;
}

/** Every seed: `--check-determinism`. */
export const ALL_REPEATED: Repeats = { seeds: Infinity };

export interface SelfCheck {
  readonly repeated: number;
  readonly difference: RunDifference | null;
  /** The run that did not finish, and why; null if all finished. */
  readonly lost: string | null;
}

/** Runs seeds of `part` twice, up to the first difference. */
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
      if (end.kind !== 'repeated') continue; // an error is reported with its seed by the sweep
      repeated += 1;
      const { difference: what } = end;
      if (what !== null) return { repeated, difference: { system, seed, what }, lost: null };
    }
  }
  return { repeated, difference: null, lost: null };
}

/** The number of blocks, from the first to the last, in which seeds are compared. */
const COMPARED_BLOCKS = 3;
const COMPARED_SEEDS = 8;
/** With `--check-determinism` one of so many blocks is compared besides. */
const SHARE = 8;

/** Whether one system may use realms again. */
export interface ReuseCheck {
  readonly system: string;
  /** Seeds that were the same with new realms. */
  readonly same: number;
  /** Why each seed gets new realms; null if they are used again. */
  readonly why: string | null;
}

/**
 * Compares seeds of each system that has modules, run with realms used again and with new ones.
 * Which seeds these are depends on the whole range alone, so that each shard finds the same.
 */
export async function checkReuse(
  scenario: Scenario,
  ranges: { readonly whole: SeedRange; readonly part: SeedRange },
  isThorough: boolean,
  tasks: TaskContext,
): Promise<readonly ReuseCheck[]> {
  const checks: ReuseCheck[] = [];
  let lost: string | null = null;
  for (const { name: system } of scenario.systems) {
    if (ranges.whole.to <= ranges.whole.from || !canReuse(scenario, system, tasks.catalogue))
      continue;
    let same = 0;
    let why: string | null = lost;
    for (const { from, seeds } of blocksToCompare(ranges, isThorough)) {
      if (tasks.isGivenUp() || why !== null) break;
      const end = await performTask({ kind: 'compare', scenario, system, from, seeds }, tasks);
      if (end.kind === 'lost') {
        lost = `${end.where}: ${end.why}`;
        why = lost;
      } else if (end.kind !== 'compared') why = 'it could not be compared';
      else if (end.keeper !== null) {
        const { seed, name, what } = end.keeper;
        const who = name ?? 'some package';
        why = `${who} keeps something from seed to seed (seed ${seed}: ${what})`;
      } else same += end.same;
    }
    checks.push({ system, same, why: why ?? (tasks.isGivenUp() ? 'interrupted' : null) });
  }
  return checks;
}

interface ComparedBlock {
  /** Its first seed. */
  readonly from: number;
  readonly seeds: number;
}

function blocksToCompare(
  { whole, part }: { readonly whole: SeedRange; readonly part: SeedRange },
  isThorough: boolean,
): readonly ComparedBlock[] {
  const compared: ComparedBlock[] = [];
  const last = blockOf(whole.to) - blockOf(whole.from);
  for (let at = 0; at < COMPARED_BLOCKS; at += 1) {
    const block = blockOf(whole.from) + Math.floor((last * at) / (COMPARED_BLOCKS - 1));
    const from = block * BLOCK_SEEDS;
    if (compared.at(-1)?.from !== from) compared.push({ from, seeds: COMPARED_SEEDS });
  }
  if (!isThorough) return compared;
  for (let block = blockOf(part.from); block <= blockOf(part.to); block += SHARE) {
    compared.push({ from: block * BLOCK_SEEDS, seeds: BLOCK_SEEDS });
  }
  return compared;
}

/** Returns the number of the block that a seed is in. */
function blockOf(seed: number): number {
  return Math.floor(seed / BLOCK_SEEDS);
}
