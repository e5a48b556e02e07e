/**
 * Makes a counterexample smaller, one pass at a time, until no pass can. It never sees the system:
 * it yields plans and receives whether each still breaks the same claim by the same cause; what
 * does so by another is kept beside. The order of the passes stands below. Read on in `simpler.ts`
 * (which of two plans is simpler), `search.ts` (what a pass may do, and what it is accepted by),
 * `drop.ts`, `weaken.ts`, `place-faults.ts` and `retime.ts` (the passes), `change.ts` and
 * `parameter.ts` (the pieces and numbers of a plan that they move, by `round.ts` to round ones),
 * and last `boundary.ts` (how much is just enough).
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
  /** Plans that may be judged in all, the given one and the boundary's included; 1000 if absent. */
  readonly maxRuns?: number;
  /** Whether the probe stays; if absent, it stays when the plan expects `progress` to break. */
  readonly keepsProbe?: boolean;
  /** Points near the plan's faults, the likeliest first; the clients' operations if absent. */
  readonly points?: PointsOf;
  /** Asked before each run; once true, the best plan so far is the result. */
  readonly shouldStop?: () => boolean;
}

export interface ShrinkResult {
  /** The simplest plan found. It was judged to break the claim, if `reproduced` is true. */
  readonly plan: Plan;
  /**
   * False when the plan given did not break the claim when judged again; null when it was not
   * judged, since `maxRuns` is below 1 or `shouldStop` said so. In both cases it is unchanged.
   */
  readonly reproduced: boolean | null;
  /** Whether no pass can make `plan` any simpler; false when the budget was spent before. */
  readonly isMinimal: boolean;
  /** Plans judged, and how many of them became the current one. */
  readonly runs: number;
  readonly accepted: number;
  readonly passes: readonly PassCount[];
  /** Simpler plans that broke the claim too, each by another cause than the plan given. */
  readonly others: readonly OtherBreach[];
  readonly boundary: Boundary | null;
  /** Why there is no boundary, a clause; null when there is one. */
  readonly whyNoBoundary: string | null;
}

const DEFAULT_MAX_RUNS = 1000;
/** Runs kept back for the boundary: it bisects a range of microseconds. */
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

/** Large pieces first: each run saved on a large plan is a slow one. */
function passesThatDrop(plan: Plan, options: ShrinkOptions): readonly Pass[] {
  const keepsProbe = options.keepsProbe ?? plan.expect?.claim === 'progress';
  return [
    dropChance,
    ...(keepsProbe ? [] : [dropProbe]),
    dropFaults,
    // Before anything else moves: an instant means something only as long as the rest stays.
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

/** Takes turns until one whole round accepts nothing. */
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

/** Shrinks with a predicate that answers at once. */
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

/** The same with a predicate that answers later. */
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
