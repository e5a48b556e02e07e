/**
 * Decides what a claim may know of a run beside its trace: the bounds and lengths that its plan
 * declares, and which model the clients' history is compared with.
 */
import type { Draft } from '../core/kernel/json.ts';
import { longestTtlUs, type Plan } from '../core/plan/plan.ts';
import { locksProbedByWriting } from '../core/plan/probe.ts';
import type { ModelDefinition } from './store-models.ts';

/** What a plan promises of the system, beside its trace; times in microseconds. */
export interface Terms {
  /** The largest clock rate error that the system was promised; null: nothing was promised. */
  readonly driftPpm: number | null;
  /** The largest wall clock offset that the system was promised; null: nothing was promised. */
  readonly skewUs: number | null;
  /** How much later than twice `ttlUs` a fresh client may be granted a lock after healing. */
  readonly slackUs: number;
  /** How long the run may last. */
  readonly endUs: number;
  /** The longest ttl that any client asks for, as it acquires or renews. */
  readonly ttlUs: number;
  /** The locks under which the probe, once it is granted them, has a write to send. */
  readonly probeWrites: ReadonlySet<string>;
  /** The name of the model that `linearizable` means for this system; null: it has none. */
  readonly model: string | null;
  /**
   * The models that there are; absent, those of fencepost.
   * @internal
   */
  readonly models?: ReadonlyMap<string, ModelDefinition>;
  /** Whether the store is meant to remember the highest token. */
  readonly isFenced: boolean;
  /** Whether the store adds increments itself, to what it holds; absent: clients do. */
  readonly addsItself?: boolean;
  /** Whether sections acquire a lock; absent: they do. */
  readonly hasGrants?: boolean;
  /** How many configurations the linearizability search may visit for one resource in one store. */
  readonly maxConfigurations: number;
}

const NO_LOCKS: ReadonlySet<string> = new Set();

/** The terms that a plan sets; what the store is meant to be, its system says. */
export function termsOf(
  plan: Plan,
  store: Pick<Terms, 'model' | 'models' | 'isFenced' | 'addsItself' | 'hasGrants'>,
  maxConfigurations: number,
): Terms {
  const { driftPpm, skewUs } = plan.bounds.declared ?? plan.bounds;
  const { model, models, isFenced, addsItself, hasGrants } = store;
  const terms: Draft<Terms> = {
    driftPpm,
    skewUs,
    slackUs: plan.limits.slackUs,
    endUs: plan.limits.endUs,
    ttlUs: longestTtlUs(plan),
    probeWrites: plan.limits.probe ? locksProbedByWriting(plan) : NO_LOCKS,
    model,
    isFenced,
    maxConfigurations,
  };
  if (models !== undefined) terms.models = models;
  if (addsItself !== undefined) terms.addsItself = addsItself;
  if (hasGrants !== undefined) terms.hasGrants = hasGrants;
  return terms;
}
