/**
 * Shrinks a counterexample, one pass at a time, until no pass makes progress. The shrinker never
 * sees the system: it yields plans, and learns for each whether it still breaks the same claim by
 * the same cause. Plans that break the claim by another cause are kept separately. The order of the
 * passes is defined below. Other files: `simpler.ts` (which of two plans is simpler), `search.ts`
 * (the interface of a pass, and the acceptance of candidates), `drop.ts`, `weaken.ts`,
 * `place-faults.ts` and `retime.ts` (the passes), `change.ts` and `parameter.ts` (the pieces and
 * numbers of a plan), `round.ts` (round numbers), and finally `boundary.ts` (the exact limit of a
 * failure).
 */
import type { Plan } from '../plan/plan.ts';
import { type Boundary, findBoundary, SPENT } from './boundary.ts';
import {
  calmLatencies,
  dropChance,
  dropClients,
  dropDecisions,
  dropFaults,
  dropMessages,
  dropOrder,
  dropProbe,
  dropSections,
  dropWork,
  mergeFaults,
  narrowPartitions,
} from './drop.ts';
import { moveFaults, type PointsOf, placeFaults } from './place-faults.ts';
import { dropAndRetime, keepTwoSections, retime } from './retime.ts';
import {
  type OtherBreach,
  type Pass,
  type PassCount,
  Search,
  type Steps,
  type Tried,
} from './search.ts';
import {
  lowerCounts,
  lowerLatencies,
  lowerTogether,
  renumberValues,
  roundNumbers,
  shortenFaults,
  shortenWork,
  startEarlier,
  waitInsteadOfRetrying,
  weakenClients,
} from './weaken.ts';

export interface ShrinkOptions {
  /** Maximum number of judged plans, including the original and the boundary's. Default 1000. */
  readonly maxRuns?: number;
  /** If true, keeps the probe. Default: true if the plan expects `progress` to break. */
  readonly keepsProbe?: boolean;
  /** Points near the plan's faults, most promising first. Default: the clients' operations. */
  readonly points?: PointsOf;
  /** Called before each run. Once it returns true, the best plan so far is the result. */
  readonly shouldStop?: () => boolean;
}

export interface ShrinkResult {
  /** The simplest plan found. It was judged to break the claim, if `reproduced` is true. */
  readonly plan: Plan;
  /**
   * False if the original plan did not break the claim again; null if it was not judged, because
   * `maxRuns` is below 1 or `shouldStop` returned true. In both cases `plan` is the original.
   */
  readonly reproduced: boolean | null;
  /** True if no pass can simplify `plan` further, false if the budget was spent before. */
  readonly isMinimal: boolean;
  /** Judged plans, and how many of them became the current one. */
  readonly runs: number;
  readonly accepted: number;
  readonly passes: readonly PassCount[];
  /** Simpler plans that break the claim too, each by a different cause than the original. */
  readonly others: readonly OtherBreach[];
  readonly boundary: Boundary | null;
  /** Reason why there is no boundary, as a clause, or null if there is one. */
  readonly whyNoBoundary: string | null;
}

const DEFAULT_MAX_RUNS = 1000;
/** Runs reserved for the boundary, which bisects a range of microseconds. */
const BOUNDARY_RUNS = 64;

/** Shrinks `plan`, whose chance should be pinned. The first plan it yields is `plan` itself. */
export function* shrink(plan: Plan, options: ShrinkOptions = {}): Steps<ShrinkResult> {
  const maxRuns = options.maxRuns ?? DEFAULT_MAX_RUNS;
  const kept = Math.min(BOUNDARY_RUNS, Math.floor(maxRuns / 4));
  const search = new Search(plan, maxRuns - kept, options.shouldStop ?? (() => false));
  const reproduced = yield* search.ask(plan);
  if (reproduced !== true) {
    const whyNoBoundary = reproduced === null ? SPENT.reason : 'the plan does not break the claim';
    const judged = reproduced === null ? null : false;
    return resultOf(search, {
      reproduced: judged,
      isMinimal: false,
      boundary: null,
      whyNoBoundary,
    });
  }
  yield* settle(search, [...passesThatDrop(plan, options), ...PASSES_THAT_LOWER]);
  const isMinimal = !search.isSpent;
  search.runLimit = maxRuns;
  const answer = yield* findBoundary(search);
  const boundary = answer.kind === 'found' ? answer.boundary : null;
  const whyNoBoundary = answer.kind === 'none' ? answer.reason : null;
  return resultOf(search, { reproduced, isMinimal, boundary, whyNoBoundary });
}

/**
 * Returns the passes that remove pieces, large pieces first, since runs of a large plan are slow.
 */
function passesThatDrop(plan: Plan, options: ShrinkOptions): readonly Pass[] {
  const keepsProbe = options.keepsProbe ?? plan.expect?.claim === 'progress';
  return [
    dropChance,
    ...(keepsProbe ? [] : [dropProbe]),
    dropFaults,
    // Before other changes: an instant is meaningful only while the rest stays the same.
    placeFaults(options.points),
    dropClients,
    dropSections,
    mergeFaults,
    calmLatencies,
    dropWork,
    dropDecisions,
    dropOrder,
    dropMessages,
    weakenClients,
    waitInsteadOfRetrying,
    narrowPartitions,
    moveFaults(options.points),
    keepTwoSections,
    dropAndRetime,
  ];
}

const PASSES_THAT_LOWER: readonly Pass[] = [
  roundNumbers,
  shortenFaults,
  startEarlier,
  lowerLatencies,
  shortenWork,
  lowerCounts,
  lowerTogether,
  retime,
  renumberValues,
];

/** Runs all passes repeatedly, until a complete round accepts nothing. */
function* settle(search: Search, passes: readonly Pass[]): Steps<void> {
  for (;;) {
    const before = search.accepted;
    for (const pass of passes) yield* search.turn(pass);
    if (search.accepted === before || search.isSpent) return;
  }
}

function resultOf(
  search: Search,
  rest: Pick<ShrinkResult, 'reproduced' | 'isMinimal' | 'boundary' | 'whyNoBoundary'>,
): ShrinkResult {
  const { current: plan, runs, accepted, passCounts: passes, others } = search;
  return { plan, runs, accepted, passes, others, ...rest };
}

/** Shrinks with a synchronous predicate. */
export function shrinkWith(
  plan: Plan,
  stillBreaks: (candidate: Plan) => Tried,
  options?: ShrinkOptions,
): ShrinkResult {
  const steps = shrink(plan, options);
  let step = steps.next();
  while (step.done !== true) step = steps.next(stillBreaks(step.value));
  return step.value;
}

/** Shrinks with an asynchronous predicate. */
export async function shrinkWithAsync(
  plan: Plan,
  stillBreaks: (candidate: Plan) => Promise<Tried>,
  options?: ShrinkOptions,
): Promise<ShrinkResult> {
  const steps = shrink(plan, options);
  let step = steps.next();
  while (step.done !== true) step = steps.next(await stillBreaks(step.value));
  return step.value;
}
