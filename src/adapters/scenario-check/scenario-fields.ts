/**
 * The fields of a scenario as they are typed in TypeScript: those of a scenario file, and no
 * others. Times are texts, `20ms`, and ranges of them, `1ms..40ms`; what a field means, and what it
 * is where it is left out, `docs/scenarios.md` says.
 */
import type { FaultKind } from '../../core/plan/fault.ts';

type Unit = 'us' | 'ms' | 's' | 'min' | 'm' | 'h';
/** `20ms`, `250us`, `1.5s`, `0`. */
export type Time = 0 | '0' | `${number}${Unit}`;
/** `20ms`, or each seed draws from `1ms..40ms`. */
export type TimeRange = Time | `${Time}..${Time}`;
/** `1/2` or `20%`; 1 is always. */
export type OddsText = 0 | 1 | '0' | '1' | `${number}/${number}` | `${number}%`;
type Rate = 0 | '0' | `${number}ppm`;
type RateRange = Rate | `${Rate}..${Rate}`;
/** Names, or how many. */
type Names = number | readonly string[];
/** `clients`, `stores`, `locks` or the name of a process; or several. */
type Processes = string | readonly string[];

type Optional<Fields> = Readonly<Partial<Fields>>;

/** What a scenario says beside its systems. */
export interface ScenarioFields {
  readonly description?: string;
  /** Where code finds servers, for drivers of its own: `{ 'redis-1:6379': 'lock' }`. */
  readonly hosts?: Readonly<Record<string, string>>;
  /** A count, names, or settings. Default 2. */
  readonly clients?: number | readonly string[] | ClientsField;
  /** What a client does under one grant; `guard.work()` does it. */
  readonly workload?: WorkloadField;
  readonly network?: { readonly link?: 'connection' | 'datagram'; readonly latency?: TimeRange };
  /** What brings the workers of the `lease-*` locks their steps, at least once. */
  readonly queue?: QueueField;
  /** How much a backoff may be lengthened: `25%`. */
  readonly jitter?: OddsText;
  /** What may go wrong; `all`: every kind that the lock can suffer, each with low odds. */
  readonly faults?: readonly FaultOption[] | 'all';
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

interface QueueField {
  readonly steps?: number;
  readonly retries?: number;
  readonly visibility?: Time;
  readonly messages?: readonly (MessageField & { readonly at?: Time })[];
  readonly copies?: readonly (MessageField & { readonly after?: Time })[];
  readonly duplicates?: { readonly chance: OddsText; readonly after?: TimeRange };
}

type MessageField = Optional<{ machine: string; steps: number; retries: number }>;

interface ClientSettingsField {
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
}

interface ClientField extends ClientSettingsField {
  /** How many sections it runs. Default 3. */
  readonly sections?: number;
  /** How many sections each process runs at once, as a service does with requests. Default 1. */
  readonly concurrency?: number;
  /** The time before each section. Default 0ms..5ms. */
  readonly think?: TimeRange;
  readonly workload?: WorkloadField;
}

interface ClientsField extends ClientField {
  /** alice, bob, carol, … */
  readonly count?: number;
  readonly names?: readonly string[];
  /** What single clients do differently, by name. */
  readonly each?: Readonly<Record<string, ClientField>>;
}

interface WorkloadField {
  readonly kind?: 'blind-writes' | 'read-modify-write' | 'transfer';
  readonly writesPerGrant?: number;
  readonly awaits?: boolean;
  readonly locks?: Names;
  readonly keys?: Names;
  readonly stores?: Names;
  /** The steps of every section, instead of a kind. */
  readonly steps?: readonly StepField[];
}

type Access = Optional<{ id: number; store: string; key: string }>;
type Transfer = Optional<{ id: number; from: string; to: string; key: string; amount: number }>;
type Id = Optional<{ id: number }>;

type StepField =
  | 'write'
  | 'read'
  | 'increment'
  | 'transfer'
  | 'renew'
  | { readonly write: Access & Optional<{ value: number; awaits: boolean }> }
  | { readonly read: Access }
  | { readonly increment: Access & { readonly by?: number } }
  | { readonly transfer: Transfer }
  | { readonly compute: Time | (Id & { readonly for: Time }) }
  | { readonly renew: Id & { readonly ttl?: Time } }
  | { readonly lock: string | (Id & { readonly lock: string }) }
  | { readonly job: Id & Optional<{ tick: number; retries: number }> & { readonly for: Time } }
  | { readonly transition: Id & { readonly for: Time } }
  | { readonly memoize: Memoize };

interface Memoize extends Access {
  readonly value?: number;
  readonly for: Time;
  readonly pieces?: number;
  readonly withoutLock?: 'computes' | 'gives-up';
}

interface Chance {
  /** How likely it fires: `1/2` or `20%`. Always, when it is left out. */
  readonly chance?: OddsText;
}

interface At {
  /** At this time. Default any point of a drawn section, or any time of the first third. */
  readonly at?: TimeRange;
  /** Just before a point: `write` (of a drawn section), `alice/1/write`. */
  readonly before?: string;
  /** Just after a point: `acquire`, `bob/2/acquire`. */
  readonly after?: string;
}

interface Message extends Chance {
  /** `write` (of a drawn section) or `alice/1/write/1/request`. Default any message. */
  readonly message?: string;
  readonly leg?: 'request' | 'reply';
  readonly process?: Processes;
  readonly from?: Processes;
  readonly to?: Processes;
  readonly at?: TimeRange;
}

interface Befalling extends At, Chance {
  readonly process: Processes;
}

interface Partition extends At, Chance {
  readonly from: Processes;
  readonly to: Processes;
  readonly direction?: 'both' | 'one-way';
  readonly for: TimeRange;
}

interface Pause extends At, Chance {
  readonly process?: Processes;
  readonly for: TimeRange;
  /** Whether its clocks run on. Default run. */
  readonly clocks?: 'run' | 'freeze';
}

interface LateTimer extends Chance {
  readonly timer?: string;
  readonly process?: Processes;
  readonly at?: TimeRange;
  readonly by: TimeRange;
}

interface FaultOptions {
  readonly pause: Pause;
  readonly delay: Message & { readonly by: TimeRange };
  readonly drop: Message;
  readonly duplicate: Message & { readonly by: TimeRange };
  readonly partition: Partition;
  readonly clock: Befalling & { readonly step?: TimeRange; readonly rate?: RateRange };
  readonly crash: Befalling & { readonly restart?: TimeRange | 'never' };
  readonly reset: At & Chance & { readonly from: Processes; readonly to: Processes };
  readonly failover: Befalling & { readonly lag: TimeRange };
  readonly evict: Befalling & { readonly key: string };
  readonly 'late-timer': LateTimer;
}

/** A map of one key, the kind. */
export type FaultOption = {
  readonly [Kind in FaultKind]: { readonly [Only in Kind]: FaultOptions[Only] };
}[FaultKind];
