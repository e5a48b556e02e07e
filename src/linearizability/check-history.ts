/**
 * Decides whether a history is linearizable to a model: could its calls have come one at a time,
 * each between its call and its return (Herlihy and Wing, 1990)? This is the door of the checker,
 * which stands alone. Read on in this order:
 *
 * 1. `model.ts`: what goes in, a history and a model; `models.ts` and `models/`: the models.
 * 2. here: what is refused, what a failure says, and each object by itself.
 * 3. `decide.ts`: one object, from the fast paths in `fast/` to the first bad return.
 * 4. `search.ts`: the search for an order, which meets what `prepare.ts` lays out and
 *    `transitions.ts` numbers; `look-ahead.ts`: what spares it most of the orders.
 * 5. `verify-order.ts`: replays a valid verdict, and shares no code with any of these.
 * 6. `explain.ts`: why an invalid one is; `core.ts`: the few operations that contradict each other,
 *    found by asking less and less of a history, in the ways of `relax.ts`; `sentence.ts` tells it.
 * 7. `formats/formats.ts`: histories that others recorded, read from their files.
 */
import type { Json } from '../core/kernel/json.ts';
import { shownValue } from './call-shape.ts';
import { type CheckOptions, type DecideOptions, type Decision, decide } from './decide.ts';
import type { CallData, History, Model, Operation } from './model.ts';

/**
 * A decision about a whole history. `part` names the object that it is about, '' when the model
 * knows only one; all indices are those of the whole history.
 */
export type HistoryVerdict =
  | Extract<Decision, { kind: 'valid' }>
  | (Exclude<Decision, { kind: 'valid' }> & { readonly part: string });

/** What was decided about one part. Its indices are those of the whole history. */
export interface PartVerdict {
  /** The object's name, '' when the model knows only one. */
  readonly name: string;
  readonly decision: Decision;
}

/**
 * One verdict on the whole: invalid when a part is, at the earliest of the first bad returns; else
 * unknown when a part is. `configurations` counts those of all parts. The order of a valid verdict
 * can be replayed with `refuteOrder`.
 *
 * Throws a `MalformedOperation`, which has the operation's `index`, for what is none: an unknown
 * `outcome`, an `invoke` or `return` that is no finite number, a return before the call, an `ok`
 * without a return, a call without a name, or one that the model refuses (`Model.mistakeIn`; those
 * of this package refuse unknown names and missing or impossible fields). Throws a `RangeError` for
 * an option that is none.
 *
 * @example
 * const ok = { outcome: 'ok' } as const;
 * const history: History<RegisterCall> = [
 *   { ...ok, client: 'alice', call: { name: 'write', key: 'x', value: 4 }, invoke: 0, return: 1 },
 *   { ...ok, client: 'bob', call: { name: 'read', key: 'x', value: 5 }, invoke: 2, return: 3 },
 * ];
 * const verdict = checkHistory(history, models.register());
 * console.log(verdict.kind); // invalid
 */
export function checkHistory<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  options: CheckOptions = {},
): HistoryVerdict {
  refuseOptions(options);
  refuseMalformed(history, model);
  return decideHistory(history, model, options);
}

/**
 * Decides every part, in the order in which the history first names them: each on its own, so that
 * all bad ones are told. Throws as `checkHistory` does.
 */
export function checkParts<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  options: CheckOptions = {},
): readonly PartVerdict[] {
  refuseOptions(options);
  refuseMalformed(history, model);
  return decideParts(history, model, options);
}

/** As `checkHistory`, of a history that is known to be one. */
export function decideHistory(
  history: History,
  model: Model,
  options: DecideOptions = {},
): HistoryVerdict {
  const orders: (readonly number[])[] = [];
  let worst: Exclude<HistoryVerdict, { kind: 'valid' }> | null = null;
  let configurations = 0;
  for (const { name, decision } of decideParts(history, model, options)) {
    configurations += decision.configurations;
    if (decision.kind === 'valid') orders.push(decision.order);
    else if (worst === null || isWorse(history, decision, worst))
      worst = { ...decision, part: name };
  }
  if (worst !== null) return { ...worst, configurations };
  return { kind: 'valid', order: mergeOrders(history, orders), configurations };
}

function decideParts(
  history: History,
  model: Model,
  options: DecideOptions,
): readonly PartVerdict[] {
  const read = readFailures(history, model, options.failed);
  return splitHistory(read, model).map((part) => {
    return { name: part.name, decision: inWhole(part, decide(part.history, model, options)) };
  });
}

function inWhole({ indices }: HistoryPart, decision: Decision): Decision {
  const whole = (index: number): number => indices[index] ?? index;
  if (decision.kind === 'valid') return { ...decision, order: decision.order.map(whole) };
  if (decision.kind === 'invalid') return { ...decision, at: whole(decision.at) };
  return { ...decision, deepest: whole(decision.deepest) };
}

function isWorse(history: History, one: Decision, other: Decision): boolean {
  if (one.kind !== 'invalid') return false;
  if (other.kind !== 'invalid') return true;
  return (history[one.at]?.return ?? 0) < (history[other.at]?.return ?? 0);
}

/**
 * The history as `failed` reads it; indices stay. With `drop` a failed operation did not happen.
 * With `strict` it is an answer where the model gives a failure a meaning: a failed cas found
 * another value, a failed acquire met a holder.
 */
export function readFailures(
  history: History,
  model: Model,
  failed: 'drop' | 'strict' = 'drop',
): History {
  if (failed === 'drop' || model.whenFailed === undefined) return history;
  return history.map((operation) => {
    if (operation.outcome !== 'fail' || operation.return === null) return operation;
    const call = model.whenFailed?.(operation.call) ?? null;
    return call === null ? operation : { ...operation, call, outcome: 'ok' };
  });
}

/** What a history says of one of the independent objects that it acts on. */
export interface HistoryPart {
  /** The object's name, '' when the model knows only one. */
  readonly name: string;
  readonly history: History;
  /** By operation of the part: its index in the whole history. */
  readonly indices: readonly number[];
}

/**
 * The parts in the order in which the history first names them. An empty history has none. A
 * history is linearizable iff each part is: the property is local (Herlihy and Wing, 1990), of
 * which Horn and Kroening made the quickest way to check maps (P-compositionality, 2015).
 */
export function splitHistory(history: History, model: Model): readonly HistoryPart[] {
  const parts = new Map<string, HistoryPart & { history: Operation[]; indices: number[] }>();
  history.forEach((operation, index) => {
    const name = model.partition?.(operation.call) ?? '';
    let part = parts.get(name);
    if (part === undefined) {
      part = { name, history: [], indices: [] };
      parts.set(name, part);
    }
    part.history.push(operation);
    part.indices.push(index);
  });
  return [...parts.values()];
}

/**
 * Joins orders of different parts into one. Each operation takes effect as early as its part's
 * order lets it: at the latest call among those up to it. Sorted by these positions the whole
 * respects real time, since each lies between its operation's call and return.
 */
function mergeOrders(history: History, orders: readonly (readonly number[])[]): readonly number[] {
  const [only] = orders;
  if (orders.length === 1 && only !== undefined) return only;
  const effects = orders.flatMap((order) => {
    let position = Number.NEGATIVE_INFINITY;
    return order.map((index) => {
      position = Math.max(position, history[index]?.invoke ?? position);
      return { index, position };
    });
  });
  // The sort is stable, so that the operations of one part keep their order.
  return effects.sort((a, b) => a.position - b.position).map(({ index }) => index);
}

/** The caller's mistake in one operation; the message says in which, and what is wrong. */
export class MalformedOperation extends Error {
  override readonly name: string = 'MalformedOperation';
  /** Its index in the history. */
  readonly index: number;

  constructor(index: number, what: string) {
    super(`operation ${index}: ${what}`);
    this.index = index;
  }
}

/** Takes linear time. */
function refuseMalformed(history: History, model: Model): void {
  for (const [index, operation] of history.entries()) {
    const mistake = mistakeIn(operation) ?? model.mistakeIn?.(operation.call) ?? null;
    if (mistake !== null) throw new MalformedOperation(index, mistake);
  }
}

const outcomes: readonly unknown[] = ['ok', 'fail', 'info'];

/** Whoever writes plain JavaScript may have put anything there. */
function mistakeIn(operation: Operation<unknown>): string | null {
  if (typeof operation !== 'object' || operation === null)
    return `${shownValue(operation)} is none`;
  const { client, call, invoke, return: end, outcome } = operation;
  if (typeof client !== 'string') return `"client" must be a text, not ${shownValue(client)}`;
  if (!outcomes.includes(outcome)) {
    return `"outcome" must be ok, fail or info, not ${shownValue(outcome)}`;
  }
  const name = typeof call === 'object' && call !== null && 'name' in call ? call.name : null;
  if (typeof name !== 'string') {
    return `"call" must be an object with a "name", not ${shownValue(call)}`;
  }
  if (!Number.isFinite(invoke)) return `"invoke" must be a number, not ${shownValue(invoke)}`;
  if (end === null) return outcome === 'ok' ? 'it is ok, so that "return" must be a number' : null;
  if (!Number.isFinite(end)) return `"return" must be a number or null, not ${shownValue(end)}`;
  return end < invoke ? `it returns at ${end}, before it is called at ${invoke}` : null;
}

/** Throws a `RangeError` that names the option, where it is none. @internal */
export function refuseOptions(options: CheckOptions): void {
  const { maxConfigurations, maxBytes, shouldStop, failed } = options;
  refuseLimit('maxConfigurations', maxConfigurations);
  refuseLimit('maxBytes', maxBytes);
  if (shouldStop !== undefined && typeof shouldStop !== 'function') {
    throw new RangeError(`shouldStop must be a function, not ${shownValue(shouldStop)}`);
  }
  if (failed !== undefined && failed !== 'drop' && failed !== 'strict') {
    throw new RangeError(`failed must be drop or strict, not ${String(failed)}`);
  }
}

function refuseLimit(name: string, limit: number | undefined): void {
  if (limit === undefined || limit === Number.POSITIVE_INFINITY) return;
  if (Number.isInteger(limit) && limit >= 1) return;
  throw new RangeError(`${name} must be a whole number from 1 on, not ${limit}`);
}
