/**
 * TypeScript types for the fields of a scenario, which are the same as in a scenario file. Times
 * and time ranges are strings, such as `20ms` and `1ms..40ms`. `docs/scenarios.md` explains each
 * field and its default.
 */
import type { FaultKind } from '../../core/plan/fault.ts';

/** For example `20ms`, `250us`, `1.5s` or `0`. */
export type Time = 0 | '0' | `${number}${'us' | 'ms' | 's' | 'min' | 'm' | 'h'}`;
/** A fixed time, `20ms`, or a range, `1ms..40ms`, from which each seed draws. */
export type TimeRange = Time | `${Time}..${Time}`;
/** A probability: `1/2` or `20%`. 1 means always. */
export type Odds = 0 | 1 | '0' | '1' | `${number}/${number}` | `${number}%`;

/** The fields of a scenario other than its systems. */
export interface ScenarioFields {
  readonly description?: string;
  /** Addresses of servers for drivers in user code: `{ 'redis-1:6379': 'lock' }`. */
  readonly hosts?: Readonly<Record<string, string>>;
  /** A number of clients, their names, or their settings. Default 2. */
  readonly clients?:
    | number
    | readonly string[]
    | (ClientFields & {
        /** The number of clients, which are named alice, bob, carol, …. */
        readonly count?: number;
        readonly names?: readonly string[];
        /** Settings of individual clients, by name. */
        readonly each?: Readonly<Record<string, ClientFields>>;
      });
  /** The work that a client does under one grant, when it calls `guard.work()`. */
  readonly workload?: WorkloadFields;
  readonly network?: { readonly link?: 'connection' | 'datagram'; readonly latency?: TimeRange };
  /** The queue that delivers steps to the workers of the `lease-*` locks, at least once. */
  readonly queue?: {
    readonly steps?: number;
    readonly retries?: number;
    readonly visibility?: Time;
    readonly messages?: readonly {
      readonly machine?: string;
      readonly steps?: number;
      readonly retries?: number;
      readonly at?: Time;
    }[];
    readonly copies?: readonly {
      readonly machine?: string;
      readonly steps?: number;
      readonly retries?: number;
      readonly after?: Time;
    }[];
    readonly duplicates?: { readonly chance: Odds; readonly after?: TimeRange };
  };
  /** The fraction by which a backoff may be lengthened: `25%`. */
  readonly jitter?: Odds;
  /**
   * The faults to inject: `{ pause: { for: '20ms' } }`. `all` selects every kind that can affect
   * the lock, each with a low probability.
   */
  readonly faults?:
    | 'all'
    | readonly { readonly [Kind in FaultKind]: Pick<FaultFields, Kind> }[FaultKind][];
  /** True if each seed enables a random subset of the kinds that have a `chance`. Default true. */
  readonly swarm?: boolean;
  /** The guarantees about clocks that the lock may rely on. */
  readonly clocks?: { readonly skew?: Time; readonly drift?: `${number}ppm` };
  /** The initial value of `Date.now()`: a date from 1970 on, optionally with a UTC time. */
  readonly epoch?: `${number}-${number}-${number}` | `${number}-${number}-${number}T${string}Z` | 0;
  /** The virtual time at which the world heals. The default leaves enough time for the work. */
  readonly time?: Time;
  /** Tolerance for progress: the probe must get the lock within 2 × ttl plus this time. */
  readonly slack?: Time;
  /** True if a fresh client checks progress at the end. Default true. */
  readonly probe?: boolean;
  /** The number of events after which a run is cut off. */
  readonly maxEvents?: number;
}

/** The settings of one client. */
export interface ClientFields {
  /** The duration of a grant. Default 10ms. */
  readonly ttl?: Time;
  readonly lockTimeout?: Time | 'never';
  readonly storeTimeout?: Time | 'never';
  readonly pool?: number;
  readonly checksLease?: boolean;
  readonly countsLeaseFrom?: 'sent' | 'reply' | 'issued';
  readonly leaseEnds?: 'at' | 'after' | 'refused';
  readonly tries?: number;
  readonly backoff?: Time;
  readonly attempts?: number;
  readonly releases?: boolean;
  /** The number of sections to run. Default 3. */
  readonly sections?: number;
  /** The number of concurrent sections per process, like requests in a service. Default 1. */
  readonly concurrency?: number;
  /** The time before each section. Default 0ms..5ms. */
  readonly think?: TimeRange;
  readonly workload?: WorkloadFields;
}

/** The work of a client in one section. */
export interface WorkloadFields {
  readonly kind?: 'blind-writes' | 'read-modify-write' | 'transfer';
  readonly writesPerGrant?: number;
  readonly awaits?: boolean;
  /** Names, or a number of them. */
  readonly locks?: number | readonly string[];
  readonly keys?: number | readonly string[];
  readonly stores?: number | readonly string[];
  /** The steps of every section, instead of `kind`. */
  readonly steps?: readonly (
    | ('write' | 'read' | 'increment' | 'transfer' | 'renew')
    | {
        readonly write: {
          readonly id?: number;
          readonly store?: string;
          readonly key?: string;
          readonly value?: number;
          readonly awaits?: boolean;
        };
      }
    | { readonly read: { readonly id?: number; readonly store?: string; readonly key?: string } }
    | {
        readonly increment: {
          readonly id?: number;
          readonly store?: string;
          readonly key?: string;
          readonly by?: number;
        };
      }
    | {
        readonly transfer: {
          readonly id?: number;
          readonly from?: string;
          readonly to?: string;
          readonly key?: string;
          readonly amount?: number;
        };
      }
    | { readonly compute: Time | { readonly id?: number; readonly for: Time } }
    | { readonly renew: { readonly id?: number; readonly ttl?: Time } }
    | { readonly lock: string | { readonly id?: number; readonly lock: string } }
    | {
        readonly job: {
          readonly id?: number;
          readonly tick?: number;
          readonly retries?: number;
          readonly for: Time;
        };
      }
    | { readonly transition: { readonly id?: number; readonly for: Time } }
    | {
        readonly memoize: {
          readonly id?: number;
          readonly store?: string;
          readonly key?: string;
          readonly value?: number;
          readonly for: Time;
          readonly pieces?: number;
          readonly withoutLock?: 'computes' | 'gives-up';
        };
      }
  )[];
}

/**
 * The fields of each kind of fault. Processes are `clients`, `stores`, `locks`, one name, or a
 * list. `chance` is the probability that the fault fires; by default, it always does. A fault fires
 * at a time (`at`) or at a point: `before: write` (in a random section) or `after: alice/1/write`.
 * By default, it fires at a point of a random section, or at any time in the first third of a run.
 */
export interface FaultFields {
  readonly pause: FaultPlaceFields & {
    readonly process?: string | readonly string[];
    readonly for: TimeRange;
    /** `freeze` stops the clocks of the process during the pause. Default `run`. */
    readonly clocks?: 'run' | 'freeze';
  };
  readonly delay: MessageFields & { readonly by: TimeRange };
  readonly drop: MessageFields;
  readonly duplicate: MessageFields & { readonly by: TimeRange };
  readonly partition: FaultPlaceFields & {
    readonly from: string | readonly string[];
    readonly to: string | readonly string[];
    readonly direction?: 'both' | 'one-way';
    readonly for: TimeRange;
  };
  readonly clock: FaultPlaceFields & {
    readonly process: string | readonly string[];
    readonly step?: TimeRange;
    readonly rate?: 0 | '0' | `${number}ppm` | `${'0' | `${number}ppm`}..${'0' | `${number}ppm`}`;
  };
  readonly crash: FaultPlaceFields & {
    readonly process: string | readonly string[];
    readonly restart?: TimeRange | 'never';
  };
  readonly reset: FaultPlaceFields & {
    readonly from: string | readonly string[];
    readonly to: string | readonly string[];
  };
  readonly failover: FaultPlaceFields & {
    readonly process: string | readonly string[];
    readonly lag: TimeRange;
  };
  readonly evict: FaultPlaceFields & {
    readonly process: string | readonly string[];
    readonly key: string;
  };
  readonly 'late-timer': {
    readonly timer?: string;
    readonly process?: string | readonly string[];
    readonly at?: TimeRange;
    readonly by: TimeRange;
    readonly chance?: Odds;
  };
}

/** The time or point at which a fault fires, and its probability. */
export interface FaultPlaceFields {
  readonly at?: TimeRange;
  readonly before?: string;
  readonly after?: string;
  readonly chance?: Odds;
}

/** The message that a fault affects: `write` (in a random section) or `alice/1/write/1/request`. */
export interface MessageFields {
  readonly message?: string;
  readonly leg?: 'request' | 'reply';
  readonly process?: string | readonly string[];
  readonly from?: string | readonly string[];
  readonly to?: string | readonly string[];
  readonly at?: TimeRange;
  readonly chance?: Odds;
}
