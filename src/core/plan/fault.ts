/**
 * Everything that can be done to the simulated world, as data. All times are integer microseconds
 * of virtual time, all rates parts per million. The list is the one of the README's fault table.
 */

/**
 * When a fault strikes: at an instant; just before a point is reached; or just after it. A point is
 * an operation (`alice/1/write`, whose `before` is the instant at which the request is fixed but
 * has not left, and whose `after` is the instant at which its answer reached the program) or a mark
 * that the program sets (`alice/1/checked`; before and after are one instant).
 */
export type When =
  | { readonly kind: 'at'; readonly atUs: number }
  | { readonly kind: 'before'; readonly point: string }
  | { readonly kind: 'after'; readonly point: string };

/**
 * Which message: one by its name (`alice/1/write/1/request`), or the first that `from` sends to
 * `to` at `atUs` or later.
 */
export type Which =
  | { readonly kind: 'message'; readonly message: string }
  | { readonly kind: 'link'; readonly from: string; readonly to: string; readonly atUs: number };

/**
 * Which timer: one by its name (`alice/1/backoff-2`), or the first that `process` arms from `atUs`
 * on.
 */
export type WhichTimer =
  | { readonly kind: 'timer'; readonly timer: string }
  | { readonly kind: 'process'; readonly process: string; readonly atUs: number };

export type Fault =
  | Pause
  | Crash
  | Partition
  | ClockFault
  | Evict
  | Failover
  | Reset
  | Delay
  | Drop
  | Duplicate
  | LateTimer;

export type FaultKind = Fault['kind'];

/**
 * The process runs nothing for `forUs`. Its clocks run on (a garbage collection) or freeze (a VM).
 */
export interface Pause {
  readonly kind: 'pause';
  readonly process: string;
  readonly when: When;
  readonly forUs: number;
  readonly clocks: 'run' | 'freeze';
}

/**
 * Volatile state is gone; pending calls never answer. `restartAfterUs: null` means it stays down.
 */
export interface Crash {
  readonly kind: 'crash';
  readonly process: string;
  readonly when: When;
  readonly restartAfterUs: number | null;
}

/** No message crosses from `from` to `to` (and back, when `direction` is `both`) for `forUs`. */
export interface Partition {
  readonly kind: 'partition';
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly direction: 'both' | 'one-way';
  readonly when: When;
  readonly forUs: number;
}

/**
 * A process believes another time from now on. `stepUs` moves its wall clock only; `ratePpm` sets
 * how much faster than true time both its clocks run (0 is exact). `ratePpm` 0 beside a step leaves
 * the rate as it is. An offset is a step at time 0.
 */
export interface ClockFault {
  readonly kind: 'clock';
  readonly process: string;
  readonly when: When;
  readonly stepUs: number;
  readonly ratePpm: number;
}

/** A server forgets one key (a cache under memory pressure). */
export interface Evict {
  readonly kind: 'evict';
  readonly process: string;
  readonly key: string;
  readonly when: When;
}

/** A replica takes over whose durable state is the one of `lagUs` ago; volatile state is lost. */
export interface Failover {
  readonly kind: 'failover';
  readonly process: string;
  readonly when: When;
  readonly lagUs: number;
}

/**
 * The connections between two processes are replaced: pending calls end unknown, what the old ones
 * carry still arrives, and the new one may overtake it.
 */
export interface Reset {
  readonly kind: 'reset';
  readonly from: string;
  readonly to: string;
  readonly when: When;
}

/** One message takes `byUs` longer; on a connection it holds back what follows it. */
export interface Delay {
  readonly kind: 'delay';
  readonly which: Which;
  readonly byUs: number;
}

/** One message is lost; on a connection that is a reset. */
export interface Drop {
  readonly kind: 'drop';
  readonly which: Which;
}

/** One datagram is executed again `byUs` after its first arrival; the copy's reply is discarded. */
export interface Duplicate {
  readonly kind: 'duplicate';
  readonly which: Which;
  readonly byUs: number;
}

/** One timer fires `byUs` later than asked. */
export interface LateTimer {
  readonly kind: 'late-timer';
  readonly which: WhichTimer;
  readonly byUs: number;
}
