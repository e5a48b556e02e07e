/**
 * The outcome of a whole command: the last line of `--json`, the overview in the terminal and the
 * table of the page are three views of this. Its shape is part of the public format.
 */
import type { SectionCounts } from '../search/sweep/sections.ts';
import type { FaultTally, OverlapTally, StampedeTally } from '../search/sweep/tally.ts';

export interface Summary {
  readonly type: 'summary';
  /** Of the format; see `output-schema.ts`. */
  readonly version: 1;
  /** The exit code. */
  readonly exit: number;
  readonly seedsPerSecond: number;
  readonly eventsPerSecond: number;
  readonly scenarios: readonly ScenarioSummary[];
  /** How many scenarios were not begun when the run was interrupted; absent if none. */
  readonly notBegun?: number;
}

export interface ScenarioSummary {
  readonly name: string;
  readonly file: string;
  readonly systems: readonly SystemSummary[];
  /** Absent where every seed was examined. */
  readonly cutShort?: CutShort;
}

/** Of how many seeds a system was to be examined on, and why it was not on all of them. */
export interface CutShort {
  readonly asked: number;
  readonly by: CutReason;
}

export const CUT_REASONS = ['interrupted', 'time', 'hangs', 'shard'] as const;
/** Ctrl-C, `--time`, seeds that did not end, a shard cut short. */
export type CutReason = (typeof CUT_REASONS)[number];

export interface SystemSummary {
  readonly name: string;
  readonly expect: ExpectedClaims;
  /** Whether the expectation was met; null where it could not be judged. */
  readonly met: boolean | null;
  readonly seeds: number;
  /** Seeds that broke a claim of `expect`. */
  readonly broken: number;
  /** Seeds on which a claim of `expect` could not be judged. */
  readonly unknown: number;
  readonly claims: Readonly<Record<string, ClaimSummary>>;
  readonly measured: Measured;
  /** What became of sections; of the errors that ended them, the most frequent first. */
  readonly sections: SectionCounts;
  /** Where what should break held: what each kind of fault met, and what would meet more. */
  readonly hints: readonly string[];
  /** Why nothing was tested: nobody ever had the lock, a fault never fired, a claim never arose. */
  readonly vacuous: readonly string[];
  /** What each kind of fault really did, by its kind. */
  readonly faults: Readonly<Record<string, FaultTally>>;
  readonly counterexample: CounterexampleSummary | null;
  /** Whether the scenario leaves nothing to draw, so that all seeds are one run; absent if not. */
  readonly isWritten?: boolean;
  /** What was to be exhausted; absent where seeds were examined. */
  readonly exhausted?: ExhaustedScope;
}

/** An exhaustive search: what is counted as seeds above is then plans, and their numbers. */
export interface ExhaustedScope {
  /** How many faults a plan has at most, and of which kinds. */
  readonly faults: number;
  readonly kinds: readonly string[];
  /** How many swaps of events that one receiver has at one instant. */
  readonly ties: number;
  /** Of every message that no fault delays. */
  readonly latencyUs: number;
  readonly clients: number;
  /** Of each client at most. */
  readonly sections: number;
  /** All that there are, or that were counted before somebody stopped it. */
  readonly plans: number;
}

/** A list that is absent expects nothing. */
export interface ExpectedClaims {
  readonly holds?: readonly string[];
  readonly breaks?: readonly string[];
  /** Known to break now and then, and no failure either way. */
  readonly may?: readonly string[];
}

/** All counts are seeds. */
export interface ClaimSummary {
  readonly broken: number;
  readonly firstSeed: number | null;
  /** On which its hazard arose. */
  readonly exercised: number;
  /** That broke it in a sibling, and not here although the same happened; a sample of them. */
  readonly avoided: number;
  /** What its breaches came from, of a claim that is expected; absent where none broke it. */
  readonly kinds?: readonly KindOfFailure[];
}

/** Breaches of one claim that came from the same. */
export interface KindOfFailure {
  /** The rule of the claim that they broke, and in a few words what made them. */
  readonly rule: string;
  readonly cause: string;
  readonly broken: number;
  readonly firstSeed: number;
}

/**
 * What is measured: two holders of one lock, how late a loss was noticed, one value computed twice
 * at once.
 */
export interface Measured {
  readonly 'holder-overlap'?: OverlapTally;
  readonly 'loss-noticed'?: OverlapTally;
  readonly stampede?: StampedeTally;
}

export interface CounterexampleSummary {
  readonly file: string;
  readonly claim: string;
  readonly clients: number;
  readonly faults: number;
  readonly events: number;
  readonly originalEvents: number;
  /** How many decisions of the plan are still drawn. */
  readonly chance: number;
  readonly digest: string;
}
