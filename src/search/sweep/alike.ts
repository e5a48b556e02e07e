/**
 * Finds systems that die of the same error on each of their first seeds. The sweep skips the other
 * seeds of these systems. A shard also uses the first seeds of the whole range. Therefore, all
 * shards skip the same seeds, and a merge can detect this from the counts.
 */
import { builtIn } from '../../catalogue.ts';
import { expand } from '../../scenario/expand.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { isSameError } from './counts.ts';
import { FIRST_SEEDS, type SeedRange } from './shards.ts';
import { performTask, type TaskContext } from './tasks.ts';

/** Returns the systems whose first seeds all die of the same error. */
export async function systemsThatDie(
  scenario: Scenario,
  { from, to }: SeedRange,
  tasks: TaskContext,
): Promise<readonly string[]> {
  const dying: string[] = [];
  if (to - from < FIRST_SEEDS || tasks.catalogue === builtIn) return dying;
  for (const { name } of scenario.systems) {
    const errors: string[] = [];
    while (errors.length < FIRST_SEEDS && !tasks.isGivenUp()) {
      const plan = expand(scenario, name, from + errors.length);
      const end = await performTask({ kind: 'run', plan }, tasks);
      const error = end.kind === 'ran' ? end.failure : end.kind === 'threw' ? end.error : null;
      if (error === null || !isSameError(error, errors[0] ?? error)) break;
      errors.push(error);
    }
    if (errors.length === FIRST_SEEDS) dying.push(name);
  }
  return dying;
}
