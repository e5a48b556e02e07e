/** The words that a scenario may use for locks, stores and claims. Other layers provide them. */

import type { Json } from '../core/kernel/json.ts';
import type { ClientSettings } from '../core/plan/client-text.ts';
import type { ServerPlace } from '../core/plan/fault.ts';
import type { ModuleDigests, Odds, Plan } from '../core/plan/plan.ts';

export interface Vocabulary {
  /** Lock protocols by name: `lock-service`, `lock-service-published`, … */
  readonly locks: ReadonlyMap<string, LockWord>;
  /** Names of stores: `unfenced`, `fenced`, … */
  readonly stores: readonly string[];
  /** Options of stores, by store name. Absent if there are none. */
  readonly storeOptions?: ReadonlyMap<string, readonly OptionWord[]>;
  /** Server names of replicated stores, by store name. */
  readonly replicas?: ReadonlyMap<string, ReplicaNames>;
  /** Claims with their parameters: `grant-order`, `linearizable(register)`. */
  readonly claims: readonly string[];
  /** Claims that do not apply if sections acquire no lock. Absent if there are none. */
  readonly grantClaims?: ReadonlySet<string>;
  /** Returns the servers that run in a plan. Absent if no plan can run. */
  readonly serversOf?: (plan: Plan) => readonly ServerPlace[];
  /** The modules that defined some of these words. Absent if there are none. */
  readonly modules?: ModuleDigests;
}

/** Returns the servers of a store, for valid options. */
export type ReplicaNames = (
  store: string,
  options: Readonly<Record<string, Json>>,
) => readonly string[];

export interface LockWord {
  readonly options: readonly OptionWord[];
  /** Returns the names of the lock's processes, for valid options. */
  readonly servers: (options: Readonly<Record<string, Json>>) => readonly string[];
  /** Returns an option that conflicts with the others, or null. Each option is valid alone. */
  readonly problem?: (
    options: Readonly<Record<string, Json>>,
    clients: readonly ClientSettings[],
  ) => { readonly option: string; readonly what: string } | null;
  /** True if sections may have `renew` steps. Default true. */
  readonly canRenew?: boolean;
  /** True if clients can get their steps from a queue. Default false. */
  readonly takesMessages?: boolean;
  /** True if sections acquire the lock. Default true. */
  readonly hasGrants?: boolean;
  /** True if clients are asynchronous code. Default false. */
  readonly isAsync?: boolean;
  /** Labels of the clients' operations at the lock. Default: `acquire` and `release`. */
  readonly operations?: readonly string[];
  /** Maximum extension of a backoff, as a fraction. Used by scenarios that set none. */
  readonly jitter?: Odds;
}

/** An option of a lock protocol or of a store, such as `counter: volatile`. */
export interface OptionWord {
  readonly name: string;
  /** All accepted values, or null if the option takes an integer. */
  readonly values: readonly string[] | null;
  /** The smallest and largest accepted integers. Absent if every integer from 0 is accepted. */
  readonly range?: readonly [number, number];
}

/** A claim that is reported for every run. No lock can guarantee it if processes may pause. */
export const MEASURED_CLAIM = 'holder-overlap';
