/**
 * Finds the boundary of a failure: two plans whose only difference is one microsecond. The first
 * breaks the claim; the second is the nearest passing plan. A fully shrunk plan keeps the smallest
 * round number beyond the boundary.
 */
import { amountOf } from '../plan/fault.ts';
import type { Plan } from '../plan/plan.ts';
import { type Parameter, type ParameterKind, parametersOf } from './parameter.ts';
import { roundFrom } from './round.ts';
import type { Search, Steps } from './search.ts';

export interface Boundary {
  /** Description of the number, such as `pause of alice`. */
  readonly what: string;
  /** The path of the number in the plan, such as `faults[0].forUs`. */
  readonly parameter: string;
  /**
   * The claim breaks at this number and holds at `holdsAtUs`, which differs by one. Both were
   * judged. For a clock step, these are magnitudes.
   */
  readonly breaksAtUs: number;
  readonly holdsAtUs: number;
  /** The number in the shrunk plan. */
  readonly keepsUs: number;
  /**
   * True if the claim broke for all tried numbers beyond `breaksAtUs`. If false, there is more than
   * one boundary.
   */
  readonly isOnlyOne: boolean;
  /** The shrunk plan with this number replaced by `holdsAtUs`. */
  readonly holdsPlan: Plan;
}

export type BoundaryAnswer =
  | { readonly kind: 'found'; readonly boundary: Boundary }
  /** `reason` is a clause: "it breaks even with the smallest pause of alice allowed". */
  | { readonly kind: 'none'; readonly reason: string };

/** Order in which to try numbers if the plan has no single decisive fault, most promising first. */
const ORDER: readonly ParameterKind[] = [
  'amount',
  'think',
  'latency',
  'decision',
  'instant',
  'compute',
];

/**
 * Finds the boundary of `search.current`, which stays unchanged. If the plan's only fault has an
 * amount, tries only this amount. Otherwise, uses the first number for which the claim holds at an
 * end of the number's range.
 */
export function* findBoundary(search: Search): Steps<BoundaryAnswer> {
  const single = search.current.faults.length === 1 ? search.current.faults[0] : undefined;
  if (single !== undefined && amountOf(single) !== null) {
    const amount = parametersOf(search.current).find(({ kind }) => kind === 'amount');
    if (amount !== undefined) return yield* boundaryOf(search, amount, [amount.range.minUs]);
  }
  const parameters = ORDER.flatMap((kind) =>
    parametersOf(search.current).filter((parameter) => parameter.kind === kind),
  );
  for (const parameter of parameters) {
    const { minUs, maxUs } = parameter.range;
    const answer = yield* boundaryOf(search, parameter, [minUs, maxUs]);
    if (answer.kind === 'found') return answer;
    if (search.isSpent) return answer;
  }
  return {
    kind: 'none',
    reason: 'it breaks no matter which single number is changed within its bounds',
  };
}

/** Bisects from the parameter's value toward the first of `ends` at which the claim holds. */
function* boundaryOf(
  search: Search,
  parameter: Parameter,
  ends: readonly number[],
): Steps<BoundaryAnswer> {
  for (const end of ends) {
    const far = parameter.write(search.current, end);
    if (end === parameter.value || !search.isAllowed(far)) continue;
    const breaks = yield* search.ask(far);
    if (breaks === null) return SPENT;
    // A breach by another cause, or with a fault out of place, does not count as holding.
    if (breaks === false) return yield* bisect(search, parameter, end);
  }
  const { what, range } = parameter;
  const reason =
    range.minUs === range.maxUs
      ? `no other ${what} is within the bounds`
      : `it breaks even with the smallest ${what} that the bounds allow`;
  return { kind: 'none', reason };
}

/** The answer if no more plans may be judged. */
export const SPENT: Extract<BoundaryAnswer, { readonly kind: 'none' }> = {
  kind: 'none',
  reason: 'the budget of runs was spent',
};

function* bisect(search: Search, parameter: Parameter, end: number): Steps<BoundaryAnswer> {
  let breaksAtUs = parameter.value;
  let holdsAtUs = end;
  while (Math.abs(breaksAtUs - holdsAtUs) > 1) {
    const middle = Math.floor((breaksAtUs + holdsAtUs) / 2);
    const breaks = yield* search.ask(parameter.write(search.current, middle));
    if (breaks === null) return SPENT;
    if (breaks === false) holdsAtUs = middle;
    else breaksAtUs = middle;
  }
  const { what, path, value, write } = parameter;
  const isOnlyOne = yield* breaksBeyond(search, parameter, { breaksAtUs, holdsAtUs });
  const holdsPlan = write(search.current, holdsAtUs);
  const sides = { breaksAtUs, holdsAtUs, keepsUs: value, isOnlyOne, holdsPlan };
  return { kind: 'found', boundary: { what, parameter: path, ...sides } };
}

/** Returns true if the claim also breaks at the next round number, and at the end of the range. */
function* breaksBeyond(
  search: Search,
  { range, write }: Parameter,
  { breaksAtUs, holdsAtUs }: Pick<Boundary, 'breaksAtUs' | 'holdsAtUs'>,
): Steps<boolean> {
  const isMore = breaksAtUs > holdsAtUs;
  const beyond = isMore ? [roundFrom(breaksAtUs), range.maxUs] : [range.minUs];
  for (const us of beyond) {
    const plan = write(search.current, us);
    if (us > range.maxUs || !search.isAllowed(plan)) continue;
    const breaks = yield* search.ask(plan);
    const isBroken = breaks === true || (breaks !== null && typeof breaks === 'object');
    if (!isBroken) return false;
  }
  return true;
}
