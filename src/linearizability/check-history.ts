/**
 * Checks that a history is linearizable with respect to a model (Herlihy and Wing, 1990): its
 * operations could have run one at a time, each between its call and its return. This is the entry
 * point of the checker. The checker imports only `core/kernel` and `text`. Read on in this order:
 *
 * 1. `model.ts`: the input, a history and a model; `models.ts` and `models/`: the models.
 * 2. This file: rejection of malformed input, the meaning of a failure, and the split by object.
 * 3. `decide.ts`: the decision on one object, from the fast paths in `fast/` to the first bad
 *    return.
 * 4. `search.ts`: the search for an order, on the layout of `prepare.ts` and the numbering of
 *    `transitions.ts`; `look-ahead.ts` excludes most orders in advance.
 * 5. `verify-order.ts`: replays a valid verdict, and shares no code with any of these.
 * 6. `explain.ts`: explains an invalid verdict; `core.ts`: finds the few contradictory operations
 *    by gradually relaxing the history with `relax.ts`; `sentence.ts`: puts the explanation into
 *    words.
 * 7. `formats/formats.ts`: reads histories from files of other tools.
 */
import type { Json } from '../core/kernel/json.ts';
import { shownValue } from './call-shape.ts';
import { type CheckOptions, type DecideOptions, type Decision, decide } from './decide.ts';
import type { CallData, History, Model, Operation } from './model.ts';

/**
 * The decision on a complete history. `part` is the name of the object concerned, or '' if the
 * model has only one object. All indices refer to the complete history.
 */
export type HistoryVerdict =
  | Extract<Decision, { kind: 'valid' }>
  | (Exclude<Decision, { kind: 'valid' }> & { readonly part: string });

/** The decision on one part. Its indices refer to the complete history. */
export interface PartVerdict {
  /** The object's name, or '' if the model has only one object. */
  readonly name: string;
  readonly decision: Decision;
}

/**
 * Returns one verdict on the complete history: invalid if any part is invalid, or else unknown if
 * any part is unknown, or else valid. `at` is the earliest bad return of all parts.
 * `configurations` is the sum over all parts. `refuteOrder` can replay the order of a valid
 * verdict.
 *
 * Throws a `MalformedOperation` with the operation's `index` for an unknown `outcome`, an `invoke`
 * or `return` that is not a finite number, a return before the call, an `ok` without a return, a
 * call without a name, or a call that the model rejects (`Model.mistakeIn`). The models of this
 * package reject unknown names and missing or impossible fields. Throws a `RangeError` for an
 * invalid option.
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
 * Returns the decision on every part, in the order in which the history first names the parts. Each
 * part is decided separately, so that all bad parts are reported. Throws like `checkHistory`.
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

/** Like `checkHistory`, for a history that is known to be well-formed. */
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
    return {
      name: part.name,
      decision: toCompleteIndices(part, decide(part.history, model, options)),
    };
  });
}

function toCompleteIndices({ indices }: HistoryPart, decision: Decision): Decision {
  const toIndex = (index: number): number => indices[index] ?? index;
  if (decision.kind === 'valid') return { ...decision, order: decision.order.map(toIndex) };
  if (decision.kind === 'invalid') return { ...decision, at: toIndex(decision.at) };
  return { ...decision, deepest: toIndex(decision.deepest) };
}

function isWorse(history: History, one: Decision, other: Decision): boolean {
  if (one.kind !== 'invalid') return false;
  if (other.kind !== 'invalid') return true;
  return (history[one.at]?.return ?? 0) < (history[other.at]?.return ?? 0);
}

/**
 * Returns the history with failures interpreted according to `failed`. Indices stay the same. With
 * `drop`, a failed operation did not happen. With `strict`, the failure counts as an answer if the
 * model gives it a meaning: a failed cas found another value, and a failed acquire found the lock
 * held.
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

/** The part of a history that concerns one of its independent objects. */
export interface HistoryPart {
  /** The object's name, or '' if the model has only one object. */
  readonly name: string;
  readonly history: History;
  /** Indices in the complete history, by operation of the part. */
  readonly indices: readonly number[];
}

/**
 * Splits a history into its parts, in the order in which the history first names them. An empty
 * history has no parts. A history is linearizable iff each part is, because linearizability is
 * local (Herlihy and Wing, 1990). Horn and Kroening used this to check maps fast
 * (P-compositionality, 2015).
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
 * Joins the orders of different parts into one. Each operation takes effect as early as the order
 * of its part allows: at the latest call among the operations up to it. These positions respect
 * real time, because each lies between its operation's call and return.
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
  // The sort is stable, so the operations of one part keep their order.
  return effects.sort((a, b) => a.position - b.position).map(({ index }) => index);
}

/** A caller's mistake in one operation. The message names the operation and the mistake. */
export class MalformedOperation extends Error {
  override readonly name: string = 'MalformedOperation';
  /** The operation's index in the history. */
  readonly index: number;

  constructor(index: number, problem: string) {
    super(`operation ${index}: ${problem}`);
    this.index = index;
  }
}

/** Throws if an operation is malformed. Takes linear time. */
function refuseMalformed(history: History, model: Model): void {
  for (const [index, operation] of history.entries()) {
    const mistake = mistakeIn(operation) ?? model.mistakeIn?.(operation.call) ?? null;
    if (mistake !== null) throw new MalformedOperation(index, mistake);
  }
}

const outcomes: readonly unknown[] = ['ok', 'fail', 'info'];

/** Returns the first mistake in an operation, or null. Untyped callers may pass any value. */
function mistakeIn(operation: Operation<unknown>): string | null {
  if (typeof operation !== 'object' || operation === null)
    return `expected an object, not ${shownValue(operation)}`;
  const { client, call, invoke, return: end, outcome } = operation;
  if (typeof client !== 'string') return `"client" must be a string, not ${shownValue(client)}`;
  if (!outcomes.includes(outcome)) {
    return `"outcome" must be ok, fail or info, not ${shownValue(outcome)}`;
  }
  const name = typeof call === 'object' && call !== null && 'name' in call ? call.name : null;
  if (typeof name !== 'string') {
    return `"call" must be an object with a "name", not ${shownValue(call)}`;
  }
  if (!Number.isFinite(invoke)) return `"invoke" must be a number, not ${shownValue(invoke)}`;
  if (end === null) return outcome === 'ok' ? '"return" must be a number if "outcome" is ok' : null;
  if (!Number.isFinite(end)) return `"return" must be a number or null, not ${shownValue(end)}`;
  return end < invoke ? `it returns at ${end}, before it is called at ${invoke}` : null;
}

/** Throws a `RangeError` that names the first invalid option. @internal */
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
  throw new RangeError(`${name} must be a whole number of at least 1, not ${limit}`);
}
