/**
 * A plan is the complete input of one run: the same plan gives the same trace, byte for byte. It
 * names decisions instead of numbering draws, so it survives changes of unrelated code, reads well
 * in a pull request, and can be edited by hand. All times are integer microseconds.
 *
 * Other files: `fault.ts` (fault kinds), `operation-names.ts` (points for faults), `places.ts`
 * (allowed places), `plan-text.ts` (plan files, with `fields.ts`, `left-out.ts`, `client-text.ts`,
 * `work-text.ts`, `queue-text.ts`, `fault-text.ts`) and `document.ts` (YAML and its problems).
 *
 * The defaults of omitted fields follow the types. A written plan omits fields that equal them, so
 * that a shrunk plan is short. Changing a default changes the meaning of old plans.
 */
import type { Json } from '../kernel/json.ts';
import type { RangeUs } from './duration.ts';
import type { Fault, FaultKind } from './fault.ts';

export interface Plan {
  /** Version of the format. */
  readonly fencepost: 1;
  /** The scenario that the plan was expanded from. For people; the run ignores it. */
  readonly scenario: string;
  /**
   * The modules that define names of the system, each with a digest (`sha256:…`) of its files and
   * packages. Paths are relative to the scenario's folder. Absent if all names are built in.
   */
  readonly use?: ModuleDigests;
  readonly system: SystemPlan;
  /**
   * Time of a correct wall clock at the start of the run, in microseconds since 1970. Absent: 0, or
   * the start of 2024 if asynchronous code runs.
   */
  readonly epochUs?: number;
  readonly clients: readonly ClientPlan[];
  /** The queue that delivers steps to workers; absent if there is none. */
  readonly queue?: QueuePlan;
  readonly network: NetworkPlan;
  readonly faults: readonly Fault[];
  /** Keyed chance for the remaining draws, or null if the plan leaves nothing to chance. */
  readonly chance: ChancePlan | null;
  /**
   * Values fixed by name, which override `chance`: the latency of a message or the length of a
   * timer, in microseconds. The value of `alice/random` selects the stream of alice's random
   * values.
   */
  readonly decisions: Readonly<Record<string, number>>;
  /** Names of simultaneous events that happen in this order, before all others. */
  readonly order: readonly string[];
  readonly limits: Limits;
  /** Limits for the shrinker, from the scenario. */
  readonly bounds: Bounds;
  /** Expected result of a replay; absent if the plan was never judged. */
  readonly expect?: Expectation;
}

/** Module paths such as `./my-lock.mjs`, with digests of their files and package versions. */
export type ModuleDigests = Readonly<Record<string, string>>;

/** The parts of the system under test, by the names that `fencepost list` prints. */
export interface SystemPlan {
  /** Name of this combination in the scenario. */
  readonly name: string;
  /** `lock-service`, `lock-service-published`, … */
  readonly lock: string;
  /** `fenced`, `unfenced`, … */
  readonly store: string;
  /** Options of the lock and the store by name, documented by each of them. */
  readonly options: Readonly<Record<string, Json>>;
  /** Absent: no server has an address, unless the lock's code sets one. */
  readonly hosts?: HostNames;
}

/** Maps addresses in the code of clients (`redis-1:6379`) to the names of servers. */
export type HostNames = Readonly<Record<string, string>>;

/**
 * The work of a client: how it acquires and keeps its lock, and its critical sections. Times are in
 * microseconds.
 */
export interface ClientPlan {
  readonly name: string;
  readonly ttlUs: number;
  /** Timeout of calls to the lock service, after which their outcome is unknown; null for none. */
  readonly lockTimeoutUs: number | null;
  /** Timeout of calls to a store, or null to wait forever. */
  readonly storeTimeoutUs: number | null;
  /** Connections per server, at least 1; calls take them in turn. */
  readonly pool: number;
  /** True if the program checks its lease before each write, and skips a write that is too late. */
  readonly checksLease: boolean;
  /**
   * Start of the lease for the client: when it sent the request, when the reply arrived, or the
   * issue time in the grant.
   */
  readonly countsLeaseFrom: 'sent' | 'reply' | 'issued';
  /**
   * The client counts its lease as over `at` its end (correct), only `after` it (off by one), or
   * only once a request is `refused` (no timer).
   */
  readonly leaseEnds: 'at' | 'after' | 'refused';
  /** Maximum attempts of a lock or store call while its outcome is unknown, at least 1. */
  readonly tries: number;
  /** Time between attempts to take a busy lock. */
  readonly backoffUs: number;
  /** Attempts to take the lock before a section is given up, at least 1. */
  readonly attempts: number;
  /** True if the client releases the lock after a section; false if the lock expires. */
  readonly releases: boolean;
  /** Number of sections that run at once, at least 2. Absent: one after the other. */
  readonly concurrency?: number;
  /** Its critical sections: take the lock, do the work, release. */
  readonly sections: readonly {
    /** Part of every name (`alice/<id>/write`), so it is kept when other sections are removed. */
    readonly id: number;
    /** Local time from the end of the previous section, or the start, to the first attempt. */
    readonly thinkUs: number;
    /** The lock to take. The resource that it guards has the same name. */
    readonly lock: string;
    readonly work: readonly Work[];
  }[];
}

export type SectionPlan = ClientPlan['sections'][number];

/**
 * One step of a section's work. `id` is unique in a section: the operation of step 1 is named
 * `alice/1/write`, that of step 2 `alice/1/write-2`. `awaits: false` sends without waiting for the
 * answer; the section ends when all answers have arrived.
 */
export type Work =
  | {
      readonly kind: 'write';
      readonly id: number;
      readonly store: string;
      readonly key: string;
      readonly value: number;
      readonly awaits: boolean;
    }
  | { readonly kind: 'read'; readonly id: number; readonly store: string; readonly key: string }
  /** Reads, adds, writes: `alice/1/read`, then `alice/1/write`. */
  | {
      readonly kind: 'increment';
      readonly id: number;
      readonly store: string;
      readonly key: string;
      /** Amount to add, which may be negative. Absent: 1. */
      readonly by?: number;
    }
  /** Moves `amount` between two stores: reads both, then writes both. */
  | {
      readonly kind: 'transfer';
      readonly id: number;
      readonly from: string;
      readonly to: string;
      readonly key: string;
      readonly amount: number;
    }
  /** Works for a time without accessing anything. */
  | { readonly kind: 'compute'; readonly id: number; readonly forUs: number }
  | { readonly kind: 'renew'; readonly id: number; readonly ttlUs: number }
  /** Takes another lock until the end of the section. */
  | { readonly kind: 'lock'; readonly id: number; readonly lock: string }
  /** Runs the guarded job of tick `tick`, which takes `forUs`. Each tick should run once. */
  | {
      readonly kind: 'job';
      readonly id: number;
      readonly tick: number;
      /**
       * Number of earlier failures of the message that requests this tick; 0 on its first delivery.
       */
      readonly retries: number;
      readonly forUs: number;
    }
  /** Runs the step that the section's message requests, which takes `forUs`. */
  | { readonly kind: 'transition'; readonly id: number; readonly forUs: number }
  /**
   * Reads a cached value. On a miss, takes the section's lock, reads again, computes `value` for
   * `forUs`, stores it and releases. Must be the section's only step. Each of several `pieces`
   * takes `forUs`, is stored under its own key (`x/1`, `x/2`), and extends the lock; `value` is
   * stored last. A client that does not get the lock in time computes without the lock or
   * gives up.
   */
  | {
      readonly kind: 'memoize';
      readonly id: number;
      readonly store: string;
      readonly key: string;
      readonly value: number;
      readonly forUs: number;
      readonly pieces: number;
      /** Absent: the client computes without the lock. */
      readonly withoutLock?: 'gives-up';
    };

/** An at-least-once queue of messages, each of which requests one step of a state machine. */
export interface QueuePlan {
  /** Number of steps of each machine. Steps are numbered from 0. */
  readonly steps: number;
  /** Maximum number of retries of a failed step. */
  readonly retries: number;
  /** Time for which a received message is hidden before it is delivered again. */
  readonly visibilityUs: number;
  /** Initial messages, each available from a given time. */
  readonly messages: readonly {
    /** Name of the lock. */
    readonly machine: string;
    readonly steps: number;
    readonly retries: number;
    readonly atUs: number;
  }[];
  /**
   * Messages to deliver twice: the first one with these fields and, `afterUs` later, a copy of it.
   */
  readonly copies: readonly {
    readonly machine: string;
    readonly steps: number;
    readonly retries: number;
    readonly afterUs: number;
  }[];
}

export type StepOfMachine = Omit<QueuePlan['messages'][number], 'atUs'>;

export interface NetworkPlan {
  /**
   * A connection is first in, first out, and a loss resets it. Datagrams may overtake each other
   * and be duplicated.
   */
  readonly link: 'connection' | 'datagram';
  /** One-way latency of messages whose latency is neither fixed by name nor drawn. */
  readonly latencyUs: number;
}

/** Odds of `numerator` in `denominator`, two non-negative integers. The denominator is not 0. */
export interface Odds {
  readonly numerator: number;
  readonly denominator: number;
}

/** Decisions drawn during the run, each a function of the seed and its own name. */
export interface ChancePlan {
  /** A safe non-negative integer. */
  readonly seed: number;
  /** Latencies are multiples of `latencyStepUs`: 1, or 1000 to produce simultaneous events. */
  readonly latency: RangeUs | null;
  readonly latencyStepUs: number;
  readonly delay: (Odds & RangeUs) | null;
  readonly drop: Odds | null;
  readonly duplicate: (Odds & RangeUs) | null;
  readonly lateTimer: (Odds & RangeUs) | null;
  /** Maximum extension of a backoff, as a ratio of its length. */
  readonly jitter: Odds | null;
}

export interface Limits {
  /**
   * Time at which all faults end: chance stops, partitions and pauses end, servers restart, and
   * clock rates are reset.
   */
  readonly healAtUs: number;
  /** True if a fresh client, `probe`, then takes each lock and writes. */
  readonly probe: boolean;
  /** The probe must be granted the lock within twice the longest ttl plus this time. */
  readonly slackUs: number;
  /** A run that reaches one of these limits is truncated, and its verdicts are unknown. */
  readonly endUs: number;
  readonly maxEvents: number;
}

/** The ranges that the scenario allows. Fault kinds that are absent must not appear. */
export interface Bounds {
  readonly latency: RangeUs;
  readonly think: RangeUs;
  /**
   * Length of a pause, delay, partition, restart, failover lag, late timer or copy. A list allows
   * several ranges, and nothing between them.
   */
  readonly durations: DurationBounds;
  /** Allowed places of faults with a time or point. Faults of an absent kind may be anywhere. */
  readonly places?: FaultPlaces;
  /** Maximum absolute clock offset and rate error of a process; null is unbounded. */
  readonly skewUs: number | null;
  readonly driftPpm: number | null;
  /**
   * Clock bounds that the system may rely on, if faults may exceed them. Claims are judged by
   * these. Absent: the bounds above.
   */
  readonly declared?: ClockPromise;
}

export type DurationBounds = Partial<Readonly<Record<FaultKind, RangeUs | readonly RangeUs[]>>>;

export type FaultPlaces = Partial<Readonly<Record<FaultKind, readonly FaultPlace[]>>>;

/**
 * `time`: an instant in a range, or any point that the process passes within it. `any point`: any
 * point, at any time. `before` and `after`: one side of a point, given by full name
 * (`alice/1/write`) or by verb (`write`).
 */
export type FaultPlace =
  | { readonly kind: 'time'; readonly at: RangeUs }
  | { readonly kind: 'any point' }
  | { readonly kind: 'before' | 'after'; readonly point: string };

/** Bounds on every clock's offset and rate error; null is unbounded. */
export interface ClockPromise {
  readonly skewUs: number | null;
  readonly driftPpm: number | null;
}

export interface Expectation {
  readonly claim: string;
  readonly outcome: 'reproduced' | 'fixed' | 'inert' | 'diverged';
  /** Cause of the breach when the plan was kept; absent if there was none or it is unknown. */
  readonly cause?: KeptCause;
}

/** The broken rule and the faults, each with its target, such as `pause` and `before access`. */
export interface KeptCause {
  readonly rule: string;
  /** True if the lock was lost by a release that was meant for another grant. */
  readonly isByNonOwnerRelease: boolean;
  readonly faults: readonly { readonly kind: FaultKind; readonly what: string }[];
}

/** A careful client: checks its lease before each write, and counts it from the request. */
export const CLIENT_DEFAULTS = {
  ttlUs: 10_000,
  lockTimeoutUs: 30_000,
  storeTimeoutUs: null,
  pool: 1,
  checksLease: true,
  countsLeaseFrom: 'sent',
  leaseEnds: 'at',
  tries: 1,
  backoffUs: 2_000,
  attempts: 100,
  releases: true,
} as const;

/** `thinkUs` is the default in a plan; in a scenario, think times are drawn. */
export const SECTION_DEFAULTS = { thinkUs: 0, lock: 'db' } as const;

export const WORK_DEFAULTS = {
  store: 'store',
  key: 'x',
  awaits: true,
  amount: 1,
  retries: 0,
  pieces: 1,
} as const;

export const QUEUE_DEFAULTS = { steps: 1, retries: 5, visibilityUs: 30_000_000 } as const;

export const NETWORK_DEFAULTS = { link: 'connection', latencyUs: 1_000 } as const;

export const LIMIT_DEFAULTS = {
  probe: true,
  slackUs: 10_000,
  endUs: 10_000_000,
  maxEvents: 100_000,
} as const;

/** Maximum numbers in a file. */
export const CAPS = {
  clients: 1_000,
  sectionsPerClient: 10_000,
  /** Total for all clients of a scenario. A section takes about 1 kB and 20 events. */
  sections: 100_000,
  worksPerSection: 1_000,
  pieces: 100,
  pool: 64,
  tries: 100,
  attempts: 1_000_000,
  concurrency: 1_000,
  faults: 10_000,
  names: 1_000_000,
  maxEvents: 1_000_000_000,
} as const;

/** Returns the plan without these faults. Each element of `removed` removes one equal fault. */
export function planWithout(plan: Plan, removed: readonly Fault[]): Plan {
  if (removed.length === 0) return plan;
  const texts = removed.map((fault) => JSON.stringify(fault));
  const faults = plan.faults.filter((fault) => {
    const at = texts.indexOf(JSON.stringify(fault));
    if (at >= 0) texts.splice(at, 1);
    return at < 0;
  });
  return { ...plan, faults };
}

/** Returns the locks of a plan's sections. Each lock is a machine, even without a transition. */
export function machinesOf({ clients }: Pick<Plan, 'clients'>): ReadonlySet<string> {
  return new Set(clients.flatMap(({ sections }) => sections.map(({ lock }) => lock)));
}

/**
 * Returns the longest ttl with which a client of the plan acquires or renews, or 0 if none does.
 */
export function longestTtlUs({ clients }: Plan): number {
  let longest = 0;
  for (const { ttlUs, sections } of clients) {
    longest = Math.max(longest, ttlUs);
    for (const { work } of sections) {
      for (const step of work) {
        if (step.kind === 'renew') longest = Math.max(longest, step.ttlUs);
      }
    }
  }
  return longest;
}
