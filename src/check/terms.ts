/**
 * The facts about a run that a claim may use besides its trace: the bounds and durations that the
 * plan declares, and the model for the clients' history.
 */
import type { Draft } from '../core/kernel/json.ts';
import { longestTtlUs, type Plan } from '../core/plan/plan.ts';
import { locksProbedByWriting } from '../core/plan/probe.ts';
import type { ModelDefinition } from './store-models.ts';

/** The promises of a plan about the system. Times are in microseconds. */
export interface Terms {
  /** Declared bound on the clock rate error, or null if none is declared. */
  readonly driftPpm: number | null;
  /** Declared bound on the wall clock offset, or null if none is declared. */
  readonly skewUs: number | null;
  /** After healing, a fresh client must be granted a lock within twice `ttlUs` plus this. */
  readonly slackUs: number;
  /** Longest duration of the run. */
  readonly endUs: number;
  /** Longest ttl that any client requests when it acquires or renews. */
  readonly ttlUs: number;
  /** The locks under which the probe has a write to send. */
  readonly probeWrites: ReadonlySet<string>;
  /** Name of the model that `linearizable` uses, or null if the store has no specification. */
  readonly model: string | null;
  /**
   * The available models, by default the built-in ones.
   * @internal
   */
  readonly models?: ReadonlyMap<string, ModelDefinition>;
  /** True if the store should remember the highest token. */
  readonly isFenced: boolean;
  /** True if the store adds increments to its value itself. By default, clients do. */
  readonly addsItself?: boolean;
  /** False if sections acquire no lock. Default true. */
  readonly hasGrants?: boolean;
  /** Maximum configurations of the linearizability search, per resource in a store. */
  readonly maxConfigurations: number;
}

const NO_LOCKS: ReadonlySet<string> = new Set();

/** Returns the terms of a plan. `store` describes the system's store. */
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
