/**
 * Decides what a checker may know of a run beside its trace: the bounds and lengths that its plan
 * declares, and which model the clients' history is compared with.
 */
import type { Plan } from '../plan/plan.ts';

/** Every value in every store begins as this. */
export const INITIAL_VALUE = 0;

/** A sequential specification of one resource in one store. */
export type ModelName =
  | 'register'
  | 'counter'
  | 'fenced-register'
  | 'fenced-register-strict'
  | 'fenced-register-with-reads';

export interface Terms {
  /** The largest clock rate error that the system was promised; null: nothing was promised. */
  readonly driftPpm: number | null;
  /** The largest wall clock offset that the system was promised; null: nothing was promised. */
  readonly skewUs: number | null;
  /** How much later than twice `ttlUs` a fresh client may be granted a lock after healing. */
  readonly slackUs: number;
  /** The longest ttl that any client asks for, as it acquires or renews. */
  readonly ttlUs: number;
  /** What `linearizable` means for this system; null where nobody wrote its specification. */
  readonly model: ModelName | null;
  /** Whether the store is meant to remember the highest token. */
  readonly isFenced: boolean;
  /** How many configurations the linearizability search may visit for one resource in one store. */
  readonly maxConfigurations: number;
}

/** The terms that a plan sets; what the store is meant to be, its system says. */
export function termsOf(
  plan: Plan,
  store: Pick<Terms, 'model' | 'isFenced'>,
  maxConfigurations: number,
): Terms {
  const { driftPpm, skewUs } = plan.bounds;
  const { slackUs } = plan.limits;
  return { driftPpm, skewUs, slackUs, ttlUs: longestTtlUs(plan), ...store, maxConfigurations };
}

/** The longest ttl that any client of the plan asks for, as it acquires or renews; 0 for none. */
export function longestTtlUs(plan: Plan): number {
  let longest = 0;
  for (const { ttlUs, sections } of plan.clients) {
    longest = Math.max(longest, ttlUs);
    for (const step of sections.flatMap(({ work }) => work)) {
      if (step.kind === 'renew') longest = Math.max(longest, step.ttlUs);
    }
  }
  return longest;
}
