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
  /** The longest ttl of any client. */
  readonly ttlUs: number;
  /** What `linearizable` means for this system; null where nobody wrote its specification. */
  readonly model: ModelName | null;
  /** How many configurations the linearizability search may visit for one resource in one store. */
  readonly maxConfigurations: number;
}

/** The terms that a plan sets; the model is the system's. */
export function termsOf(plan: Plan, model: ModelName | null, maxConfigurations: number): Terms {
  let ttlUs = 0;
  for (const client of plan.clients) ttlUs = Math.max(ttlUs, client.ttlUs);
  const { driftPpm, skewUs } = plan.bounds;
  return { driftPpm, skewUs, slackUs: plan.limits.slackUs, ttlUs, model, maxConfigurations };
}
