/**
 * A plan is the complete input of one run: the same plan gives the same trace, byte for byte. It
 * names decisions instead of numbering draws, so it survives changes of unrelated code, reads well
 * in a pull request and can be edited by hand. All times are integer microseconds.
 *
 * Read on in `fault.ts` (what can be done to the world), `operation-names.ts` (the points at
 * which), `places.ts` (where faults may be), `plan-text.ts` (a plan as a file, from `fields.ts`,
 * `left-out.ts`, `client-text.ts`, `work-text.ts`, `queue-text.ts`, `fault-text.ts`) and
 * `document.ts` (YAML, and what is wrong).
 *
 * Below the types stands what a file means where it leaves a field out. A plan that is written
 * leaves out what equals these, so that a shrunk plan is short; changing one changes the meaning of
 * old plans.
 */
import type { Json } from '../kernel/json.ts';
import type { RangeUs } from './duration.ts';
import type { Fault, FaultKind } from './fault.ts';

export interface Plan {
  /** The format's version. */
  readonly fencepost: 1;
  /** The scenario that the plan was expanded from, for people; the run does not read it. */
  readonly scenario: string;
  /**
   * The modules that the system's own words come from, each with the digest (`sha256:…`) of its
   * files and the packages it used as the plan was made. Paths are relative to the scenario's
   * folder. Absent where all words are fencepost's.
   */
  readonly use?: ModuleDigests;
  readonly system: SystemPlan;
  /**
   * What a right wall clock shows when the run begins, in microseconds since 1970. Absent: 0, or
   * the start of 2024 where asynchronous code runs.
   */
  readonly epochUs?: number;
  readonly clients: readonly ClientPlan[];
  /** The queue that brings workers their steps; absent where there is none. */
  readonly queue?: QueuePlan;
  readonly network: NetworkPlan;
  readonly faults: readonly Fault[];
  /** What is still drawn, by keyed chance; `null` when the plan leaves nothing to chance. */
  readonly chance: ChancePlan | null;
  /**
   * Drawn values that are fixed by name instead, in microseconds: a message's name gives its
   * latency, a timer's name the length that a program would have drawn for it. `alice/random` gives
   * no length, but which stream a process draws its own random values from. They win over `chance`.
   */
  readonly decisions: Readonly<Record<string, number>>;
  /** Names of events; where several share an instant they happen in this order, before others. */
  readonly order: readonly string[];
  readonly limits: Limits;
  /** What the shrinker must stay inside; taken from the scenario. */
  readonly bounds: Bounds;
  /** What a replay should find; absent on plans that were never judged. */
  readonly expect?: Expectation;
}

/** From paths of modules, `./my-lock.mjs`, to digests of their files with versions of packages. */
export type ModuleDigests = Readonly<Record<string, string>>;

/** The parts that make up the system under test, by the names that `fencepost list` prints. */
export interface SystemPlan {
  /** The name that the scenario gives to this assembly. */
  readonly name: string;
  /** `lock-service`, `lock-service-published`, … */
  readonly lock: string;
  /** `fenced`, `unfenced`, … */
  readonly store: string;
  /** Options of the lock and the store, by name, each documented by its system. */
  readonly options: Readonly<Record<string, Json>>;
  /** Absent: none of its servers listens, unless its own code says where. */
  readonly hosts?: HostNames;
}

/**
 * From addresses, as they stand in the code of clients (`redis-1:6379`), to the names of servers
 * that drivers reach there.
 */
export type HostNames = Readonly<Record<string, string>>;

/**
 * What a scenario asks of a client: how it takes and keeps its lock, and its critical sections.
 * Times are in microseconds.
 */
export interface ClientPlan {
  readonly name: string;
  readonly ttlUs: number;
  /** How long a call to the lock service is waited for before its outcome counts as unknown. */
  readonly lockTimeoutUs: number | null;
  /** The same for calls to a store; `null` waits for ever. */
  readonly storeTimeoutUs: number | null;
  /** Connections per server, at least 1; calls take them in turn. */
  readonly pool: number;
  /** Whether the program tests its lease before each write, and skips the write when it is over. */
  readonly checksLease: boolean;
  /** From when it counts its lease: its request, the reply, or the grant's own issued-at. */
  readonly countsLeaseFrom: 'sent' | 'reply' | 'issued';
  /**
   * Whether a lease is over `at` its end (correct), only `after` it (off by one), or not before
   * something is `refused`: the client has no timer.
   */
  readonly leaseEnds: 'at' | 'after' | 'refused';
  /** Times a lock or store call is tried when its outcome is unknown, at least 1. */
  readonly tries: number;
  /** Time between attempts to take a busy lock. */
  readonly backoffUs: number;
  /** Attempts to take the lock before a section is given up, at least 1. */
  readonly attempts: number;
  /** Whether it releases the lock at the end of a section, or lets it expire. */
  readonly releases: boolean;
  /** Sections that its process runs at once, at least 2; absent: one after the other. */
  readonly concurrency?: number;
  /** Its critical sections: take the lock, do the work, release. */
  readonly sections: readonly {
    /**
     * Stands in every name (`alice/<id>/write`), so it stays when other sections are taken away.
     */
    readonly id: number;
    /** Local time between the end of the section before, or the start, and the first attempt. */
    readonly thinkUs: number;
    /** The lock that is taken; the resource that it guards has the same name. */
    readonly lock: string;
    readonly work: readonly Work[];
  }[];
}

export type SectionPlan = ClientPlan['sections'][number];

/**
 * One step of a section's work. `id` distinguishes steps of a section: the messages of step 1 are
 * named `alice/1/write`, of step 2 `alice/1/write-2`. `awaits: false` sends without waiting for the
 * answer; the section ends only when all answers are in.
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
      /** What it adds; absent: 1. Less than 0 takes away. */
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
  /** Works for a time without touching anything. */
  | { readonly kind: 'compute'; readonly id: number; readonly forUs: number }
  | { readonly kind: 'renew'; readonly id: number; readonly ttlUs: number }
  /** Takes another lock as well, until the end of the section. */
  | { readonly kind: 'lock'; readonly id: number; readonly lock: string }
  /** Runs the guarded body of occurrence `tick`, which takes `forUs`; it should run once a tick. */
  | {
      readonly kind: 'job';
      readonly id: number;
      readonly tick: number;
      /** How often the message that asks for this tick failed before; 0 on its first delivery. */
      readonly retries: number;
      readonly forUs: number;
    }
  /** Runs the step that the message asks for which the section received; it takes `forUs`. */
  | { readonly kind: 'transition'; readonly id: number; readonly forUs: number }
  /**
   * Reads a cached value; on a miss takes the section's lock, reads again, computes `value` for
   * `forUs`, stores it and releases. It must be the section's only step. With several `pieces`,
   * each takes `forUs` and is stored under a key of its own (`x/1`, `x/2`), after which the lock is
   * extended, and `value` under `x` says that they are complete. It computes all the same where the
   * lock cannot be had in time, unless it then gives up.
   */
  | {
      readonly kind: 'memoize';
      readonly id: number;
      readonly store: string;
      readonly key: string;
      readonly value: number;
      readonly forUs: number;
      readonly pieces: number;
      /** Absent: it computes without the lock. */
      readonly withoutLock?: 'gives-up';
    };

/** A queue of messages, each of which asks for one step of a machine, delivered at least once. */
export interface QueuePlan {
  /** How many steps each machine has; they count from 0. */
  readonly steps: number;
  /** How often a step that failed is tried again, at most. */
  readonly retries: number;
  /** How long a message that was received is hidden from others, until it is delivered again. */
  readonly visibilityUs: number;
  /** What lies in it from the start, each from a time on. */
  readonly messages: readonly {
    /** The name of the lock. */
    readonly machine: string;
    readonly steps: number;
    readonly retries: number;
    readonly atUs: number;
  }[];
  /** Messages that it delivers twice: the first of this name that is put in, and a copy of it. */
  readonly copies: readonly {
    readonly machine: string;
    readonly steps: number;
    readonly retries: number;
    readonly afterUs: number;
  }[];
}

export type StepOfMachine = Omit<QueuePlan['messages'][number], 'atUs'>;

export interface NetworkPlan {
  /** A connection is first in, first out and resets on loss; a datagram may overtake and double. */
  readonly link: 'connection' | 'datagram';
  /** One way, for messages whose latency is neither decided nor drawn. */
  readonly latencyUs: number;
}

/** `numerator` in `denominator`; both non-negative integers, the second positive. */
export interface Odds {
  readonly numerator: number;
  readonly denominator: number;
}

/** Decisions that are drawn while the run goes on, each a function of the seed and its own name. */
export interface ChancePlan {
  /** The seed; a safe non-negative integer. */
  readonly seed: number;
  /** Latencies are drawn as a multiple of `latencyStepUs` (1, or 1000 so that events tie). */
  readonly latency: RangeUs | null;
  readonly latencyStepUs: number;
  readonly delay: (Odds & RangeUs) | null;
  readonly drop: Odds | null;
  readonly duplicate: (Odds & RangeUs) | null;
  readonly lateTimer: (Odds & RangeUs) | null;
  /** How much of its length a backoff may be lengthened by, as a ratio. */
  readonly jitter: Odds | null;
}

export interface Limits {
  /** When chance faults stop, partitions lift, pauses end, servers restart, clocks run right. */
  readonly healAtUs: number;
  /** Whether a fresh client, `probe`, then takes each lock and writes. */
  readonly probe: boolean;
  /** How much later than twice the longest ttl the probe may be granted the lock. */
  readonly slackUs: number;
  /** A run that reaches one of these is cut and its verdicts are unknown. */
  readonly endUs: number;
  readonly maxEvents: number;
}

/** The ranges that the scenario allows; a fault kind that is absent must not appear. */
export interface Bounds {
  readonly latency: RangeUs;
  readonly think: RangeUs;
  /**
   * Durations: of a pause, delay, partition, restart, failover's lag, late timer, copy; a list
   * where the scenario allows several ranges and nothing between them.
   */
  readonly durations: DurationBounds;
  /** Where faults that have a time or a point may be; a kind that is absent may be anywhere. */
  readonly places?: FaultPlaces;
  /** Largest absolute clock offset and rate that a process may have; `null` is unbounded. */
  readonly skewUs: number | null;
  readonly driftPpm: number | null;
  /**
   * What the system was promised of its clocks, by which claims judge, where faults may go beyond
   * it; absent: no more than the bounds say.
   */
  readonly declared?: ClockPromise;
}

export type DurationBounds = Partial<Readonly<Record<FaultKind, RangeUs | readonly RangeUs[]>>>;

export type FaultPlaces = Partial<Readonly<Record<FaultKind, readonly FaultPlace[]>>>;

/**
 * At a time of this range, and at any point that is then passed; at any point, whenever that is; or
 * on one side of a point: a whole name (`alice/1/write`), or the verb of many (`write`).
 */
export type FaultPlace =
  | { readonly kind: 'time'; readonly at: RangeUs }
  | { readonly kind: 'any point' }
  | { readonly kind: 'before' | 'after'; readonly point: string };

/** No clock is further off, faster or slower than this; `null` promises nothing. */
export interface ClockPromise {
  readonly skewUs: number | null;
  readonly driftPpm: number | null;
}

export interface Expectation {
  readonly claim: string;
  readonly outcome: 'reproduced' | 'fixed' | 'inert' | 'diverged';
  /** What the claim broke by when the plan was kept; absent where nothing broke, or nobody said. */
  readonly cause?: KeptCause;
}

/** The rule that broke, and what each kind of fault hit: `pause` and `before access`. */
export interface KeptCause {
  readonly rule: string;
  /** The lock was lost by a release that meant another grant. */
  readonly isByForeignRelease: boolean;
  readonly faults: readonly { readonly kind: FaultKind; readonly what: string }[];
}

/** A careful client: tests its lease before each write, counted from when it sent its request. */
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

/** `thinkUs` is a plan's default; a scenario draws its think times. */
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

/** The most of each that a file may ask for. */
export const CAPS = {
  clients: 1_000,
  sectionsPerClient: 10_000,
  /** Of all clients of a scenario; each takes about a kilobyte and twenty events. */
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

/** The locks of a plan's sections: each is a machine, even without a transition. */
export function machinesOf({ clients }: Pick<Plan, 'clients'>): ReadonlySet<string> {
  return new Set(clients.flatMap(({ sections }) => sections.map(({ lock }) => lock)));
}

/** The longest ttl that any client of the plan asks for, as it acquires or renews; 0 for none. */
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
