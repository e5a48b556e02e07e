/**
 * Finds how much is just enough: two plans that differ by one microsecond in one number, of which
 * one breaks the claim and the other holds. The one that holds is the nearest run that passes. A
 * plan that could be shrunk to its end keeps the smallest round number that lies beyond.
 */
import { amountOf } from '../plan/fault.ts';
import type { Plan } from '../plan/plan.ts';
import { type Parameter, type ParameterKind, parametersOf } from './parameter.ts';
import { roundFrom } from './round.ts';
import type { Search, Steps } from './search.ts';

export interface Boundary {
  /** The number, for people, e.g. `pause of alice`. */
  readonly what: string;
  /** Where it stands in the plan, e.g. `faults[0].forUs`. */
  readonly parameter: string;
  /** One more or one less than `holdsAtUs`; both were judged. A step's magnitude. */
  readonly breaksAtUs: number;
  readonly holdsAtUs: number;
  /** What the shrunk plan has in its place. */
  readonly keepsUs: number;
  /**
   * Whether the claim broke with all that was tried on the side of `breaksAtUs`, the last number
   * that the bounds allow included. Where it did not, there is more than one boundary.
   */
  readonly isOnlyOne: boolean;
  /** The shrunk plan with `holdsAtUs` in its place. */
  readonly holdsPlan: Plan;
}

export type BoundaryAnswer =
  | { readonly kind: 'found'; readonly boundary: Boundary }
  /** `reason` is a clause: "it breaks even with the smallest pause of alice allowed". */
  | { readonly kind: 'none'; readonly reason: string };

/** Numbers of a plan without a single decisive fault, the likeliest to matter first. */
const ORDER: readonly ParameterKind[] = [
  'amount',
  'think',
  'latency',
  'decision',
  'instant',
  'compute',
];

/**
 * Looks for the boundary of `search.current`, which stays as it is. A single fault's amount decides
 * alone; otherwise it is the first number that has an end of its range at which the claim holds.
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
  return { kind: 'none', reason: 'it breaks whatever single number is moved within its bounds' };
}

/** Bisects between the parameter's value, which breaks, and the first of `ends` that holds. */
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
    // What breaks by another cause, or out of place, does not hold either.
    if (breaks === false) return yield* bisect(search, parameter, end);
  }
  const { what, range } = parameter;
  const reason =
    range.minUs === range.maxUs
      ? `no other ${what} is within the bounds`
      : `it breaks even with the smallest ${what} that the bounds allow`;
  return { kind: 'none', reason };
}

/** No answer, since no more plans may be judged. */
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

/** Whether the claim breaks with a round number just beyond too, and at the end of the range. */
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
