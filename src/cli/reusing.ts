/**
 * Which systems of a scenario may use the realms of their processes again, from one seed to the
 * next: those of which a block of seeds, or with `--check-determinism` each eighth, was run with
 * new ones as well, and was the same.
 */
import { BLOCK_SEEDS } from '../host/realm/realm-blocks.ts';
import { canReuse, type Keeper } from '../search/sweep/keepers.ts';
import type { SeedRange } from '../search/sweep/shards.ts';
import { performTask, type TaskContext } from '../search/sweep/tasks.ts';
import { countOf } from '../text/prose.ts';
import type { LoadedScenario } from './sources.ts';
import type { Terminal } from './terminal.ts';

/** How long is compared where nobody asks for it, of each system. */
const COMPARE_MS = 2000;
/** Of so many blocks one is compared where somebody asks. */
const SHARE = 8;

interface ReuseContext {
  readonly tasks: TaskContext;
  readonly checksDeterminism: boolean;
  readonly terminal: Terminal;
}

/** By name; tells of each of the others what keeps something. */
export async function systemsToReuse(
  { scenario, catalogue }: LoadedScenario,
  range: SeedRange,
  { tasks, checksDeterminism, terminal }: ReuseContext,
): Promise<readonly string[]> {
  const reusing: string[] = [];
  for (const { name: system } of scenario.systems) {
    if (range.to <= range.from || !canReuse(scenario, system, catalogue)) continue;
    let same = 0;
    let why: string | null = null;
    for (const from of blocksIn(range, checksDeterminism)) {
      if (tasks.isGivenUp() || why !== null) break;
      const forMs = checksDeterminism ? Number.POSITIVE_INFINITY : COMPARE_MS;
      const block = { scenario, system, from, seeds: BLOCK_SEEDS } as const;
      const end = await performTask({ kind: 'compare', ...block, forMs }, tasks);
      if (end.kind !== 'compared') why = end.kind === 'lost' ? end.why : 'it could not be compared';
      else if (end.keeper !== null) why = keptText(end.keeper);
      else same += end.same;
    }
    if (why === null && same > 1) reusing.push(system);
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

/** Where the blocks begin that are compared. */
function blocksIn({ from, to }: SeedRange, checksDeterminism: boolean): readonly number[] {
  const first = Math.floor(from / BLOCK_SEEDS) * BLOCK_SEEDS;
  if (!checksDeterminism) return [first];
  const starts: number[] = [];
  for (let start = first; start <= to; start += SHARE * BLOCK_SEEDS) starts.push(start);
  return starts;
}
