/**
 * What lock services and stores do, in the order in which they handle things: the part of a trace
 * from which most claims are judged. See `trace.ts` for times and ordinals.
 */

/** What every event has, and when it happened. */
export interface Happening<Kind extends string> {
  readonly kind: Kind;
  readonly atUs: number;
}

/** What one process does. */
export interface Deed<Kind extends string> extends Happening<Kind> {
  readonly process: string;
}

/** The lock service handles a message of a client's. */
interface AtService<Kind extends string> extends Deed<Kind> {
  readonly lock: string;
  readonly client: string;
  readonly message: string;
}

/** It gives a grant, or prolongs one. */
interface Given<Kind extends string> extends AtService<Kind> {
  readonly token: number;
  readonly ttlUs: number;
  /** When the request that it answers left its sender. */
  readonly sentAtUs: number;
  /** True time at which the service's clock, as it now runs, ends the lease; null: never. */
  readonly untilUs: number | null;
}

/** The lock service gives a grant. */
export interface Grant extends Given<'grant'> {
  readonly ordinal: number;
}

/** The lock service denies an acquire. */
export interface Deny extends AtService<'deny'> {
  readonly holder: string;
  /** The grant because of which it denies. */
  readonly holderOrdinal: number;
  /** It does not send the client away: the answer comes when the lock is free. */
  readonly waits?: true;
}

/** The lock service handles a renew. `under` is the grant that the caller meant. */
export interface Renew extends Given<'renew'> {
  readonly under: number;
  /** The grant that it extended, 0 when it was denied. */
  readonly extended: number;
}

/** The lock service handles a release. `under` is the grant that the caller meant. */
export interface Release extends AtService<'release'> {
  readonly under: number;
  /** The grant that it ended, 0 when it was denied. */
  readonly released: number;
}

/**
 * A server that keeps keys, as Redis does, handles a command on one that was taken as locks are:
 * by setting it where it was not there. Told of no key that was written in another way.
 */
export interface KeyChange extends Deed<'key-change'> {
  readonly key: string;
  readonly client: string;
  readonly message: string;
  /**
   * `lost`: by no client's command, but in a restart, a failover or an eviction. `untracked`: it
   * has no known holder from then on, since another client added to it, as to a lock of readers, or
   * since it has no end and its client or a script of another changed its value, which may say that
   * the lock is free.
   */
  readonly change: 'taken' | 'prolonged' | 'removed' | 'overwritten' | 'lost' | 'untracked';
  /** The server was told that such a key is a lock. */
  readonly isNamed: boolean;
  /**
   * False: the client asked for it, and the key stayed as it was. Repeated requests for a key that
   * another client took are reported once for each time that it is taken.
   */
  readonly isDone: boolean;
  /** Who had taken the key, and by which message: '' where nobody has it. */
  readonly holder: string;
  readonly taking: string;
  /** The message by which its own client took the key last, '' for none. */
  readonly meant: string;
  /** True time at which the server's clock, as it now runs, lets go of it; null: never. */
  readonly untilUs: number | null;
}

/** A server ends a grant of its own accord, as with the session on which it depends. */
export interface GrantEnd extends Deed<'grant-end'> {
  readonly lock: string;
  readonly client: string;
  readonly ordinal: number;
  /** A clause: `its session was over`. */
  readonly why: string;
}

/** A store handles an access. */
interface Handled<Kind extends string> extends Deed<Kind> {
  /** The store that its process is a replica of; absent where it is a store by itself. */
  readonly store?: string;
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

/** What a store with versions went by. */
export interface RowVersion {
  /** How it tells versions apart: a count of the changes, or the time of the last one, in ms. */
  readonly by: 'version' | 'timestamp';
  /** What a right clock showed as the run began, of timestamps; absent: 0. */
  readonly epochMs?: number;
  /** What the key had as the access came; null: it was never written. */
  readonly found: number | null;
}

/** How to read the versions of a store. */
export type VersionScale = Pick<RowVersion, 'by' | 'epochMs'>;

export interface WriteVersion extends RowVersion {
  /** What the write expects, null: a key that was never written; absent: whatever is there. */
  readonly expected?: number | null;
  /** What the key has afterwards. */
  readonly given: number | null;
}

/**
 * Why a store refused: `lower`, it has seen a higher token, as is said of a read (a write has
 * `highest` itself); `equal`, it had accepted that token; `order`, this place in its grant's
 * order or a later one (`last`); `higher`, the token is above the registered one (`highest`);
 * `other`, the token is not the registered one; `stamp`, what is there has a later timestamp
 * (`found`), so that a replica ignores it and its client hears nothing of that; `lease`, the lock
 * service did not confirm that its lease runs; `version`, the row has another; `check`, a rule of
 * the table forbids the value.
 */
export type Refusal =
  | { readonly kind: 'equal' | 'higher' | 'other' | 'lease' | 'version' }
  | { readonly kind: 'lower'; readonly highest: number }
  | { readonly kind: 'order'; readonly last: number }
  | { readonly kind: 'stamp'; readonly found: Stamp }
  | { readonly kind: 'check'; readonly rule: string };

/**
 * A timestamp by which the last write wins, compared digit by digit: a token or 0, then a clock in
 * microseconds since the start or a count, then, between equal ones, the name of the write.
 */
export type Stamp = readonly [high: number, low: number, write: string];

/** Whether the first is earlier than the second. */
export function isEarlier([high, low, write]: Stamp, [top, next, other]: Stamp): boolean {
  if (high !== top) return high < top;
  return low === next ? write < other : low < next;
}

/** A write, or an `open`, which changes no value and has `value: null`. */
export interface Write extends Handled<'write'> {
  readonly value: number | null;
  /** The store's highest token for that comparison, before this write; 0 when it keeps none. */
  readonly highest: number;
  readonly adds: number | null;
  /** At a replica, where the last write wins. */
  readonly stamp?: Stamp;
  /** Absent where the store has none. */
  readonly version?: WriteVersion;
  /** Absent where it is accepted, and where its token is below the highest. */
  readonly refusal?: Refusal;
}

/** A refused read serves nothing: `value` is null. */
export interface Read extends Handled<'read'> {
  readonly value: number | null;
  /** Where it was taken from one of several replicas, by which write; '' for none. */
  readonly written?: string;
  /** Absent where the store has none. */
  readonly version?: RowVersion;
  /** As of a write. */
  readonly refusal?: Refusal;
}

/** A store comes back after a crash or failover, or forgot a key: what it holds of one resource. */
export interface Recovered extends Deed<'recovered'> {
  readonly resource: string;
  readonly highest: number;
  readonly values: Readonly<Record<string, number>>;
  /** Not after a fault: this key is asked for the first time, and has had such a version before. */
  readonly begins?: { readonly key: string; readonly version: number };
}

/** `12 ms`, `−30000 ms`, whatever the time of day was. */
export function stampText({ epochMs = 0 }: VersionScale, stamp: number): string {
  const ms = stamp - epochMs;
  return `${ms < 0 ? '−' : ''}${Math.abs(ms)} ms`;
}
