/**
 * A scenario is what a person writes once for many seeds: the systems to compare, the clients and
 * their work, the network, and faults as chances and ranges. Here everything has its value:
 * defaults are filled in, groups of processes are resolved to names. All times are integer
 * microseconds.
 */
import type { ClientSettings, ReadSettings } from '../core/plan/client-text.ts';
import type { RangeUs } from '../core/plan/duration.ts';
import type { FaultKind, FieldType, FieldTypes } from '../core/plan/fault.ts';
import type {
  Bounds,
  Limits,
  ModuleDigests,
  NetworkPlan,
  Odds,
  QueuePlan,
  SystemPlan,
} from '../core/plan/plan.ts';
import type { ReadStep } from '../core/plan/work-text.ts';

export interface Scenario {
  readonly name: string;
  readonly description: string;
  /** The modules that it uses, with the digests of their files; absent where it uses none. */
  readonly use?: ModuleDigests;
  readonly systems: readonly SystemScenario[];
  readonly clients: readonly ClientScenario[];
  readonly queue?: QueueScenario;
  readonly network: { readonly link: NetworkPlan['link']; readonly latency: RangeUs };
  /** How much of its length a backoff may be lengthened by; null: as each system's lock does. */
  readonly jitter: Odds | null;
  readonly faults: readonly FaultTemplate[];
  /** Whether each seed enables a random subset of the kinds of fault that have a chance. */
  readonly isSwarm: boolean;
  /** As in a plan; absent for the default. */
  readonly epochUs?: number;
  readonly limits: Limits;
  readonly bounds: Bounds;
  /** Every plan in this scope is examined, and no seed; absent where seeds are. */
  readonly exhaust?: ExhaustScope;
}

/** What an exhaustive search goes through. */
export interface ExhaustScope {
  /** How many faults a plan has at most. */
  readonly faults: number;
  /** How many swaps of neighbours among the events that one receiver has at one instant. */
  readonly ties: number;
  /** Only the first of the clients, and the first sections of each; null for all. */
  readonly clients: number | null;
  readonly sections: number | null;
}

/** The queue of every plan, and how often it keeps a copy of a message, to come so much later. */
export interface QueueScenario {
  readonly plan: QueuePlan;
  readonly duplicates: { readonly odds: Odds; readonly after: RangeUs } | null;
}

export interface SystemScenario extends SystemPlan {
  readonly expect: {
    readonly holds: readonly string[];
    readonly breaks: readonly string[];
    /** Known to break now and then, and no failure either way; absent for none. */
    readonly may?: readonly string[];
  };
  /** The processes that serve its lock. */
  readonly servers: readonly string[];
  /** Stores that it has not, being made of replicas, or replicas that others have; for none. */
  readonly absent?: readonly string[];
  /** Servers that a kind of `faults: all` cannot befall; absent where faults are listed. */
  readonly spared?: { readonly [Kind in FaultKind]?: readonly string[] };
  /** What its clients call their operations at the lock; absent: `acquire` and `release`. */
  readonly operations?: readonly string[];
  /** Whether its sections acquire a lock; absent: they do. */
  readonly hasGrants?: boolean;
  /** The jitter of its lock; absent for none. */
  readonly jitter?: Odds;
  /** Settings of all clients that differ in this system. */
  readonly clients: ReadSettings;
}

export interface ClientScenario {
  readonly name: string;
  /** Its place among the clients, from 1; the leading digits of the values that it writes. */
  readonly number: number;
  readonly settings: ClientSettings;
  /** How many sections it runs; they are numbered from 1. */
  readonly sections: number;
  /** How many of them its process runs at once. */
  readonly concurrency: number;
  readonly think: RangeUs;
  readonly workload: Workload;
}

/** What a client does in a section. Where there are several locks, keys or stores, one is drawn. */
export interface Workload {
  readonly kind: 'blind-writes' | 'read-modify-write' | 'transfer' | 'steps';
  readonly writesPerGrant: number;
  readonly awaits: boolean;
  readonly locks: readonly string[];
  readonly keys: readonly string[];
  readonly stores: readonly string[];
  /** The steps of every section, for `steps`. */
  readonly steps: readonly ReadStep[];
}

/**
 * When a fault is injected: at a drawn time, at a point of a drawn section, or at one given point.
 * Where nothing is said it is `anywhere`: at a point of a drawn section as often as at a time.
 */
export type Place =
  | { readonly kind: 'at' | 'anywhere'; readonly at: RangeUs }
  | { readonly kind: 'verb'; readonly side: 'before' | 'after'; readonly verb: string }
  | { readonly kind: 'point'; readonly side: 'before' | 'after'; readonly point: string };

/** Which message or timer: any by chance while the run goes on, or one that `expand` names. */
export type Target =
  | { readonly kind: 'any' }
  | { readonly kind: 'named' | 'timer'; readonly name: string }
  | {
      readonly kind: 'verb';
      readonly clients: readonly string[];
      readonly verb: string;
      readonly leg: 'request' | 'reply';
    }
  | {
      readonly kind: 'link';
      readonly from: readonly string[];
      readonly to: readonly string[];
      readonly at: RangeUs;
    }
  | { readonly kind: 'process'; readonly processes: readonly string[]; readonly at: RangeUs };

/** What a scenario says of a field of each type, from which each seed draws the plan's. */
interface TemplateTypes {
  /** As the subject each draws for itself whether it is hit; else one is drawn. */
  readonly process: readonly string[];
  /** As the subject each of these groups by itself; else there is one. */
  readonly group: readonly (readonly string[])[];
  readonly message: Target;
  readonly timer: Target;
  readonly when: Place;
  readonly duration: RangeUs;
  /** Null for never. */
  readonly durationOrNever: RangeUs | null;
  readonly step: RangeUs;
  /** In parts per million. */
  readonly rate: RangeUs;
  readonly key: string;
  readonly direction: FieldTypes['direction'];
  readonly clocks: FieldTypes['clocks'];
}

export type TemplateField = {
  [Type in FieldType]: {
    /** As in a plan. */
    readonly name: string;
    readonly type: Type;
    readonly value: TemplateTypes[Type];
  };
}[FieldType];

/** One fault of a scenario, with the fields of its kind; null odds: always. */
export interface FaultTemplate {
  readonly kind: FaultKind;
  readonly odds: Odds | null;
  readonly fields: readonly TemplateField[];
}

/** Which message or timer it waits for; absent for a fault with a time or a point. */
export function targetIn({
  fields,
}: FaultTemplate): Extract<TemplateField, { readonly type: 'message' | 'timer' }> | undefined {
  return fields.find((field) => field.type === 'message' || field.type === 'timer');
}
