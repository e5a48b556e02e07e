/** Shrinks with a predicate in place of runs, for tests of the shrinker alone. */
import type { Plan } from '../plan/plan.ts';
import type { Tried } from './search.ts';
import { answerAll, type ShrinkOptions, type ShrinkResult, shrink } from './shrink.ts';

export function shrinkWith(
  plan: Plan,
  stillBreaks: (candidate: Plan) => Tried,
  options?: ShrinkOptions,
): ShrinkResult {
  return answerAll(shrink(plan, options), stillBreaks);
}
