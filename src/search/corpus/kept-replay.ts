/**
 * Replays a plan as a kept one: it says of itself what should become of it, and where it comes to
 * something else, it is seen whether that is the plan's or the system's doing. A run that differs
 * from its repetition is `nondeterministic`, whatever it seems to say about the plan; a name that
 * found no match in both is `diverged`, which a harmless edit of the code may cause.
 */
import { builtIn, type Catalogue } from '../../catalogue.ts';
import type { Expectation, Plan } from '../../core/plan/plan.ts';
import { traceDifference } from '../sweep/examiner.ts';
import { type Replay, replay } from './replay.ts';

/** What may become of a kept plan that can be read. */
export type KeptFate = Expectation['outcome'] | 'nondeterministic';

export interface KeptReplay extends Omit<Replay, 'outcome'> {
  readonly outcome: KeptFate;
  /** What the plan says of itself. */
  readonly expected: Expectation['outcome'];
  /** What differs first between two runs of it; null unless it is nondeterministic. */
  readonly difference: string | null;
}

/** Runs a kept plan; once more, where that came to what the plan does not expect. */
export async function replayKept(
  plan: Plan,
  claim?: string,
  catalogue: Catalogue = builtIn,
): Promise<KeptReplay> {
  const expected = plan.expect?.outcome ?? 'reproduced';
  const first = await replay(plan, claim, catalogue);
  if (first.outcome === expected) return { ...first, expected, difference: null };
  const second = await replay(plan, claim, catalogue);
  const difference = traceDifference(first.trace, second.trace);
  const outcome = difference === null ? first.outcome : 'nondeterministic';
  return { ...first, outcome, expected, difference };
}
