/**
 * Splits a history by the independent objects that it acts on, and joins their orders again. A
 * history is linearizable iff each object's part is (Herlihy and Wing, 1990: the property is
 * local).
 */
import type { Json } from '../core/kernel/json.ts';
import type { Model } from './model.ts';
import type { CallData, History, Operation } from './operation.ts';

export interface Part<Call> {
  /** The object's name, '' when the model knows only one. */
  readonly name: string;
  readonly history: History<Call>;
  /** By operation of the part: its index in the whole history. */
  readonly indices: readonly number[];
}

/** The parts in the order in which the history first names them. An empty history has none. */
export function splitHistory<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
): readonly Part<Call>[] {
  const parts = new Map<string, { operations: Operation<Call>[]; indices: number[] }>();
  history.forEach((operation, index) => {
    const name = model.partition?.(operation.call) ?? '';
    let part = parts.get(name);
    if (part === undefined) {
      part = { operations: [], indices: [] };
      parts.set(name, part);
    }
    part.operations.push(operation);
    part.indices.push(index);
  });
  return [...parts].map(([name, { operations, indices }]) => {
    return { name, history: operations, indices };
  });
}

/**
 * Joins orders of different parts into one. Each operation takes effect as early as its part's
 * order lets it: at the latest call among those up to it. Sorted by these positions the whole
 * respects real time, since each lies between its operation's call and return.
 */
export function mergeOrders<Call>(
  history: History<Call>,
  orders: readonly (readonly number[])[],
): readonly number[] {
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
