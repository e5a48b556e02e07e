/**
 * The fields of a scenario as they are typed in TypeScript: those of a scenario file, and no
 * others. Times are texts, `20ms`, and ranges of them, `1ms..40ms`; what a field means, and what it
 * is where it is left out, `docs/scenarios.md` says.
 */
import type { FaultKind } from '../../core/plan/fault.ts';

/** `20ms`, `250us`, `1.5s`, `0`. */
export type Time = 0 | '0' | `${number}${'us' | 'ms' | 's' | 'min' | 'm' | 'h'}`;
/** `20ms`, or each seed draws from `1ms..40ms`. */
export type TimeRange = Time | `${Time}..${Time}`;
/** `1/2` or `20%`; 1 is always. */
export type Odds = 0 | 1 | '0' | '1' | `${number}/${number}` | `${number}%`;

/** What a scenario says beside its systems. */
export interface ScenarioFields {
  readonly description?: string;
  /** Where code finds servers, for drivers of its own: `{ 'redis-1:6379': 'lock' }`. */
  readonly hosts?: Readonly<Record<string, string>>;
  /** A count, names, or settings. Default 2. */
  readonly clients?:
    | number
    | readonly string[]
    | (ClientFields & {
        /** alice, bob, carol, … */
        readonly count?: number;
        readonly names?: readonly string[];
        /** What single clients do differently, by name. */
        readonly each?: Readonly<Record<string, ClientFields>>;
      });
  /** What a client does under one grant; `guard.work()` does it. */
  readonly workload?: WorkloadFields;
  readonly network?: { readonly link?: 'connection' | 'datagram'; readonly latency?: TimeRange };
  /** What brings the workers of the `lease-*` locks their steps, at least once. */
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
  /** How much a backoff may be lengthened: `25%`. */
  readonly jitter?: Odds;
  /**
   * What may be injected: `{ pause: { for: '20ms' } }`; `all`: every kind that can affect the lock,
   * each with low odds.
   */
  readonly faults?:
    | 'all'
    | readonly { readonly [Kind in FaultKind]: Pick<FaultFields, Kind> }[FaultKind][];
  /** Whether each seed enables a random subset of the kinds with a chance. Default true. */
  readonly swarm?: boolean;
  /** What the lock may assume of clocks. */
  readonly clocks?: { readonly skew?: Time; readonly drift?: `${number}ppm` };
  /** What `Date.now()` shows at first: a day from 1970 on, or a time of it in UTC. */
  readonly epoch?: `${number}-${number}-${number}` | `${number}-${number}-${number}T${string}Z` | 0;
  /** When the world heals, in virtual time. Default long enough for the work. */
  readonly time?: Time;
  /** How much later than 2 × ttl the probe may be granted. */
  readonly slack?: Time;
  /** Whether a fresh client comes at last. Default true. */
  readonly probe?: boolean;
  /** A run is cut after so many events. */
  readonly maxEvents?: number;
}

/** The settings of one client. */
export interface ClientFields {
  /** How long a grant lasts. Default 10ms. */
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
  /** How many sections it runs. Default 3. */
  readonly sections?: number;
  /** How many sections each process runs at once, as a service does with requests. Default 1. */
  readonly concurrency?: number;
  /** The time before each section. Default 0ms..5ms. */
  readonly think?: TimeRange;
  readonly workload?: WorkloadFields;
}

/** What a client does in one section. */
export interface WorkloadFields {
  readonly kind?: 'blind-writes' | 'read-modify-write' | 'transfer';
  readonly writesPerGrant?: number;
  readonly awaits?: boolean;
  /** Names, or how many. */
  readonly locks?: number | readonly string[];
  readonly keys?: number | readonly string[];
  readonly stores?: number | readonly string[];
  /** The steps of every section, instead of a kind. */
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
 * The fields of each kind of fault. Processes are `clients`, `stores`, `locks`, the name of one, or
 * a list. `chance` is how likely it fires; absent: always. It fires at a time, `at`, or at a point,
 * `before: write` (of a drawn section) or `after: alice/1/write`; absent: at any point of a drawn
 * section, or at any time of the first third.
 */
export interface FaultFields {
  readonly pause: FaultPlaceFields & {
    readonly process?: string | readonly string[];
    readonly for: TimeRange;
    /** Whether its clocks run on. Default run. */
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

/** When a fault fires, and how likely. */
export interface FaultPlaceFields {
  readonly at?: TimeRange;
  readonly before?: string;
  readonly after?: string;
  readonly chance?: Odds;
}

/** Which message a fault affects: `write` (of a drawn section) or `alice/1/write/1/request`. */
export interface MessageFields {
  readonly message?: string;
  readonly leg?: 'request' | 'reply';
  readonly process?: string | readonly string[];
  readonly from?: string | readonly string[];
  readonly to?: string | readonly string[];
  readonly at?: TimeRange;
  readonly chance?: Odds;
}
