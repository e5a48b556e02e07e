/**
 * A scenario, which a user writes once for many seeds: the systems to compare, the clients and
 * their work, the network, and faults as chances and ranges. All defaults are filled in, and groups
 * of processes are lists of names. All times are integer microseconds.
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
  /** Digests of the module files that the scenario uses. Absent if none. */
  readonly use?: ModuleDigests;
  readonly systems: readonly SystemScenario[];
  readonly clients: readonly ClientScenario[];
  readonly queue?: QueueScenario;
  readonly network: { readonly link: NetworkPlan['link']; readonly latency: RangeUs };
  /** Maximum extension of a backoff, as a fraction. Null for the default of each lock. */
  readonly jitter: Odds | null;
  readonly faults: readonly FaultTemplate[];
  /** True if each seed enables a random subset of the fault kinds that have a chance. */
  readonly isSwarm: boolean;
  /** Time of the wall clocks at 0. Absent for the default. */
  readonly epochUs?: number;
  readonly limits: Limits;
  readonly bounds: Bounds;
  /** The scope of an exhaustive search, which replaces the seeds. Absent if there is none. */
  readonly exhaust?: ExhaustScope;
}

/** The scope of an exhaustive search. */
export interface ExhaustScope {
  /** Maximum number of faults in a plan. */
  readonly faults: number;
  /** Maximum number of swaps. A swap exchanges adjacent events of one receiver at one instant. */
  readonly ties: number;
  /** Number of clients that take part, from the first. Null for all. */
  readonly clients: number | null;
  /** Number of sections that take part per client, from the first. Null for all. */
  readonly sections: number | null;
}

/** The queue of every plan. `duplicates` has the odds and the delay of drawn copies. */
export interface QueueScenario {
  readonly plan: QueuePlan;
  readonly duplicates: { readonly odds: Odds; readonly after: RangeUs } | null;
}

export interface SystemScenario extends SystemPlan {
  readonly expect: {
    readonly holds: readonly string[];
    readonly breaks: readonly string[];
    /** Claims that may hold or break. Neither outcome is a failure. Absent if there are none. */
    readonly may?: readonly string[];
  };
  /** The processes of the lock and, if the scenario has one, of the queue. */
  readonly servers: readonly string[];
  /** Store processes that only other systems have. Absent if there are none. */
  readonly absent?: readonly string[];
  /** Servers that a kind of `faults: all` cannot affect. Absent if the file lists its faults. */
  readonly spared?: { readonly [Kind in FaultKind]?: readonly string[] };
  /** Labels of the clients' operations at the lock. Default: `acquire` and `release`. */
  readonly operations?: readonly string[];
  /** False if sections acquire no lock. Default true. */
  readonly hasGrants?: boolean;
  /** The jitter of the lock. Absent if there is none. */
  readonly jitter?: Odds;
  /** Client settings that differ in this system. */
  readonly clients: ReadSettings;
}

export interface ClientScenario {
  readonly name: string;
  /** Position among the clients, from 1. The values that the client writes start with it. */
  readonly number: number;
  readonly settings: ClientSettings;
  /** Number of sections that the client runs. Their numbers start at 1. */
  readonly sections: number;
  /** Number of sections that the client runs at once. */
  readonly concurrency: number;
  readonly think: RangeUs;
  readonly workload: Workload;
}

/** The work of a client in a section. Of several locks, keys or stores, one is drawn. */
export interface Workload {
  readonly kind: 'blind-writes' | 'read-modify-write' | 'transfer' | 'steps';
  readonly writesPerGrant: number;
  readonly awaits: boolean;
  readonly locks: readonly string[];
  readonly keys: readonly string[];
  readonly stores: readonly string[];
  /** The steps of every section. Only for `steps`. */
  readonly steps: readonly ReadStep[];
}

/**
 * The place of a fault. Default: `anywhere`, which draws a point of a drawn section or a time, with
 * equal odds.
 */
export type Place =
  | { readonly kind: 'at' | 'anywhere'; readonly at: RangeUs }
  | { readonly kind: 'verb'; readonly side: 'before' | 'after'; readonly verb: string }
  | { readonly kind: 'point'; readonly side: 'before' | 'after'; readonly point: string };

/** The message or timer of a fault. `any` is drawn during the run; `expand` names the others. */
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

/** The possible values of each field type. Each seed draws the values of its plan. */
interface TemplateTypes {
  /** In a fault's first field, each process draws separately; in another field, one is drawn. */
  readonly process: readonly string[];
  /** In the first field of a fault, each group draws separately. Other fields have one group. */
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
    /** Name of the field in a plan. */
    readonly name: string;
    readonly type: Type;
    readonly value: TemplateTypes[Type];
  };
}[FieldType];

/** One fault of a scenario, with the fields of its kind. Null `odds`: every plan has the fault. */
export interface FaultTemplate {
  readonly kind: FaultKind;
  readonly odds: Odds | null;
  readonly fields: readonly TemplateField[];
}

/** Returns the field with the fault's message or timer, or undefined if there is none. */
export function targetIn({
  fields,
}: FaultTemplate): Extract<TemplateField, { readonly type: 'message' | 'timer' }> | undefined {
  return fields.find((field) => field.type === 'message' || field.type === 'timer');
}
