/**
 * What lock services and stores do, in the order in which they handle things: the part of a trace
 * from which most claims are judged. See `trace.ts` for times and ordinals.
 */

/** The lock service gives a grant. */
export interface Grant {
  readonly kind: 'grant';
  readonly atUs: number;
  readonly process: string;
  readonly lock: string;
  readonly client: string;
  readonly ordinal: number;
  readonly token: number;
  readonly ttlUs: number;
  /** When the request that it answers left its sender. */
  readonly sentAtUs: number;
  /** True time at which the service's clock, as it now runs, ends the lease; null: never. */
  readonly untilUs: number | null;
  readonly message: string;
}

/** The lock service denies an acquire. */
export interface Deny {
  readonly kind: 'deny';
  readonly atUs: number;
  readonly process: string;
  readonly lock: string;
  readonly client: string;
  readonly holder: string;
  /** The grant because of which it denies. */
  readonly holderOrdinal: number;
  /** It does not send the client away: the answer comes when the lock is free. */
  readonly waits?: true;
  readonly message: string;
}

/** The lock service handles a renew. `under` is the grant that the caller meant. */
export interface Renew {
  readonly kind: 'renew';
  readonly atUs: number;
  readonly process: string;
  readonly lock: string;
  readonly client: string;
  readonly under: number;
  /** The grant that it extended, 0 when it was denied. */
  readonly extended: number;
  readonly token: number;
  readonly ttlUs: number;
  readonly sentAtUs: number;
  readonly untilUs: number | null;
  readonly message: string;
}

/** The lock service handles a release. `under` is the grant that the caller meant. */
export interface Release {
  readonly kind: 'release';
  readonly atUs: number;
  readonly process: string;
  readonly lock: string;
  readonly client: string;
  readonly under: number;
  /** The grant that it ended, 0 when it was denied. */
  readonly released: number;
  readonly message: string;
}

/** A store handles an access. */
interface Handled {
  readonly atUs: number;
  readonly process: string;
  readonly resource: string;
  readonly key: string;
  /** The token that it carries. */
  readonly token: number;
  /** The grant under which its client issued it. */
  readonly under: number;
  readonly client: string;
  readonly operation: string;
  /** The operation's place in the order in which its section issued its operations, from 1. */
  readonly issue: number;
  readonly isAccepted: boolean;
  readonly message: string;
}

/** A write, or an `open`, which changes no value and has `value: null`. */
export interface Write extends Handled {
  readonly kind: 'write';
  readonly value: number | null;
  /** The store's highest token for that comparison, before this write; 0 when it keeps none. */
  readonly highest: number;
  readonly adds: number | null;
}

/** A refused read serves nothing: `value` is null. */
export interface Read extends Handled {
  readonly kind: 'read';
  readonly value: number | null;
}

/**
 * A store comes back after a crash or a failover, or forgot a key: what it holds of one resource.
 */
export interface Recovered {
  readonly kind: 'recovered';
  readonly atUs: number;
  readonly process: string;
  readonly resource: string;
  readonly highest: number;
  readonly values: Readonly<Record<string, number>>;
}
