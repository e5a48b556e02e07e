/**
 * Which systems of a scenario may use the realms of their processes again, from one seed to the
 * next: those of which some seeds were run with new ones as well, and were the same. Which seeds
 * these are depends on the seeds of the whole run alone, so that each shard finds the same; with
 * `--check-determinism` each eighth block of its own is compared besides.
 */
import { BLOCK_SEEDS } from '../host/realm/realm-blocks.ts';
import { canReuse, type Keeper } from '../search/sweep/keepers.ts';
import type { SeedRange } from '../search/sweep/shards.ts';
import { performTask, type TaskContext } from '../search/sweep/tasks.ts';
import { countOf } from '../text/prose.ts';
import type { LoadedScenario } from './sources.ts';
import type { Terminal } from './terminal.ts';

/** In how many blocks, from the first to the last, seeds are compared, and how many in each. */
const COMPARED_BLOCKS = 3;
const COMPARED_SEEDS = 8;
/** Of so many blocks one is compared where somebody asks. */
const SHARE = 8;

interface ReuseContext {
  readonly tasks: TaskContext;
  readonly checksDeterminism: boolean;
  readonly terminal: Terminal;
}

/** What is examined in all, and here. */
interface Ranges {
  readonly whole: SeedRange;
  readonly part: SeedRange;
}

/** By name; tells of each of the others what keeps something. */
export async function systemsToReuse(
  { scenario, catalogue }: LoadedScenario,
  ranges: Ranges,
  { tasks, checksDeterminism, terminal }: ReuseContext,
): Promise<readonly string[]> {
  const reusing: string[] = [];
  for (const { name: system } of scenario.systems) {
    if (ranges.whole.to <= ranges.whole.from || !canReuse(scenario, system, catalogue)) continue;
    let same = 0;
    let why: string | null = null;
    for (const { from, seeds } of toCompare(ranges, checksDeterminism)) {
      if (tasks.isGivenUp() || why !== null) break;
      const end = await performTask({ kind: 'compare', scenario, system, from, seeds }, tasks);
      if (end.kind !== 'compared') why = end.kind === 'lost' ? end.why : 'it could not be compared';
      else if (end.keeper !== null) why = keptText(end.keeper);
      else same += end.same;
    }
    if (why === null && !tasks.isGivenUp()) reusing.push(system);
    if (why !== null) terminal.note(`  modules: ${system} loads all anew for each seed: ${why}`);
    else
      terminal.note(`  modules: ${countOf(same, 'seed')} of ${system} loaded anew, no difference`);
  }
  return reusing;
}

/** `ioredis keeps something from seed to seed (seed 5: event 12 differs: …)`. */
function keptText({ seed, name, what }: Keeper): string {
  return `${name ?? 'some package'} keeps something from seed to seed (seed ${seed}: ${what})`;
}

interface Compared {
  /** Where a block begins. */
  readonly from: number;
  readonly seeds: number;
}

function toCompare({ whole, part }: Ranges, checksDeterminism: boolean): readonly Compared[] {
  const compared: Compared[] = [];
  const last = blockOf(whole.to) - blockOf(whole.from);
  for (let at = 0; at < COMPARED_BLOCKS; at += 1) {
    const block = blockOf(whole.from) + Math.floor((last * at) / (COMPARED_BLOCKS - 1));
    const from = block * BLOCK_SEEDS;
    if (compared.at(-1)?.from !== from) compared.push({ from, seeds: COMPARED_SEEDS });
  }
  if (!checksDeterminism) return compared;
  for (let block = blockOf(part.from); block <= blockOf(part.to); block += SHARE) {
    compared.push({ from: block * BLOCK_SEEDS, seeds: BLOCK_SEEDS });
  }
  return compared;
}

/** The number of the block that a seed is in. */
function blockOf(seed: number): number {
  return Math.floor(seed / BLOCK_SEEDS);
}
