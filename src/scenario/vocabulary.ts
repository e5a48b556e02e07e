/** The words that a scenario may use for what other parts of fencepost provide. */

import type { Json } from '../core/kernel/json.ts';
import type { ClientSettings } from '../core/plan/client-text.ts';
import type { ServerPlace } from '../core/plan/fault.ts';
import type { ModuleDigests, Odds, Plan } from '../core/plan/plan.ts';

export interface Vocabulary {
  /** Lock protocols by name: `lock-service`, `lock-service-published`, … */
  readonly locks: ReadonlyMap<string, LockWord>;
  /** Names of stores: `unfenced`, `fenced`, … */
  readonly stores: readonly string[];
  /** What a system may choose of its store, by the store's name; absent for nothing. */
  readonly storeOptions?: ReadonlyMap<string, readonly OptionWord[]>;
  /** Of stores that are several servers, by the store's name: what these are called. */
  readonly replicas?: ReadonlyMap<string, ReplicaNames>;
  /** Names of claims with their parameters written out: `grant-order`, `linearizable(register)`. */
  readonly claims: readonly string[];
  /** Of these, those that say nothing where sections run without acquiring; absent: none. */
  readonly grantClaims?: ReadonlySet<string>;
  /** The servers that run in a plan of these words; absent where no plan can be run. */
  readonly serversOf?: (plan: Plan) => readonly ServerPlace[];
  /** The modules that some of these words were loaded from; absent for none. */
  readonly modules?: ModuleDigests;
}

/** The servers of a store under options that are all right. */
export type ReplicaNames = (
  store: string,
  options: Readonly<Record<string, Json>>,
) => readonly string[];

export interface LockWord {
  readonly options: readonly OptionWord[];
  /** The names of its processes under options that are all right. */
  readonly servers: (options: Readonly<Record<string, Json>>) => readonly string[];
  /** Which of these options, each all right, cannot be meant beside the others; null for none. */
  readonly problem?: (
    options: Readonly<Record<string, Json>>,
    clients: readonly ClientSettings[],
  ) => { readonly option: string; readonly what: string } | null;
  /** Whether sections may have `renew` steps. Default true. */
  readonly canRenew?: boolean;
  /** Whether its clients can get their steps from a queue. Default false. */
  readonly takesMessages?: boolean;
  /** Whether sections acquire it. Default true. */
  readonly hasGrants?: boolean;
  /** Whether its clients are asynchronous code. Default false. */
  readonly isAsync?: boolean;
  /** What its clients call their operations at the lock; absent: `acquire` and `release`. */
  readonly operations?: readonly string[];
  /** How much of its length a backoff may be lengthened by where a scenario does not say. */
  readonly jitter?: Odds;
}

/** An option of a lock protocol or of a store, e.g. `counter: volatile`. */
export interface OptionWord {
  readonly name: string;
  /** Every value that it may have; null for a whole number from 0. */
  readonly values: readonly string[] | null;
  /** The least and the largest number that it may be; absent: any from 0. */
  readonly range?: readonly [number, number];
}

/** Reported for every run, but no lock can promise it while processes may pause. */
export const MEASURED_CLAIM = 'holder-overlap';
