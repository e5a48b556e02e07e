/**
 * Shrinks a counterexample, one pass at a time, until no pass makes progress. The shrinker never
 * sees the system: it yields plans and receives a verdict on each. Other files: `search.ts` (budget
 * and acceptance), `simpler.ts` (the order of plans), `drop.ts`, `weaken.ts`, `place-faults.ts` and
 * `retime.ts` (passes), `change.ts` and `parameter.ts` (parts of a plan), `round.ts` (round
 * numbers) and `boundary.ts` (the exact limit of a failure).
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
import { type OtherBreach, type Pass, type PassCount, Search, type Steps } from './search.ts';
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
  /** Maximum number of runs, including the original plan and the boundary search. Default 1000. */
  readonly maxRuns?: number;
  /** If true, keeps the probe. Default: true if the plan expects `progress` to break. */
  readonly keepsProbe?: boolean;
  /** Points near the plan's faults, most promising first. Default: the clients' operations. */
  readonly points?: PointsOf;
  /** Called before each run. Once it returns true, the best plan so far is the result. */
  readonly shouldStop?: () => boolean;
}

export interface ShrinkResult {
  /** The simplest plan found. It breaks the claim if `reproduced` is true. */
  readonly plan: Plan;
  /**
   * False if the original plan did not break the claim again, null if it was not judged. In both
   * cases, `plan` is the original.
   */
  readonly reproduced: boolean | null;
  /** True if no pass can simplify `plan` further, false if the budget was spent first. */
  readonly isMinimal: boolean;
  /** Number of plans judged. `accepted` of them became the current plan. */
  readonly runs: number;
  readonly accepted: number;
  readonly passes: readonly PassCount[];
  /** Simpler plans that break the claim by other causes. */
  readonly others: readonly OtherBreach[];
  readonly boundary: Boundary | null;
  /** Reason for a missing boundary, as a clause, or null. */
  readonly whyNoBoundary: string | null;
}

export const DEFAULT_MAX_RUNS = 1000;
/** Runs reserved for the boundary search, a bisection over microseconds. */
const BOUNDARY_RUNS = 64;

/** Shrinks `plan`, whose chance should be pinned. Yields `plan` itself first. */
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

/** Removes large pieces first, because runs of large plans are slow. */
function passesThatDrop(plan: Plan, options: ShrinkOptions): readonly Pass[] {
  const keepsProbe = options.keepsProbe ?? plan.expect?.claim === 'progress';
  return [
    dropChance,
    ...(keepsProbe ? [] : [dropProbe]),
    dropFaults,
    // Comes early, because an instant is meaningful only while the rest stays the same.
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

/** Answers each question of a generator. Returns its result. */
export function answerAll<Question, Answer, Result>(
  steps: Generator<Question, Result, Answer>,
  answer: (question: Question) => Answer,
): Result {
  let step = steps.next();
  while (step.done !== true) step = steps.next(answer(step.value));
  return step.value;
}

/** Like `answerAll`, with asynchronous answers. */
export async function answerAllAsync<Question, Answer, Result>(
  steps: Generator<Question, Result, Answer>,
  answer: (question: Question) => Promise<Answer> | Answer,
): Promise<Result> {
  let step = steps.next();
  while (step.done !== true) step = steps.next(await answer(step.value));
  return step.value;
}
