/** Replays the order of a valid verdict against the model and real time, without the search. */
import type { Json } from '../core/kernel/json.ts';
import type { CallData, History, Model } from './model.ts';

/**
 * Returns the reason why `order` does not prove `history` linearizable, or null if it does. `order`
 * contains indices of the complete history. Shares no code with the search, and takes linear time.
 * Failed operations did not happen, as with `failed: 'drop'`.
 */
export function refuteOrder<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  order: readonly number[],
): string | null {
  const statesOf = new Map<string, readonly State[]>();
  let latestInvoke = Number.NEGATIVE_INFINITY;
  for (const index of order) {
    const operation = history[index];
    if (operation === undefined) return `there is no operation ${index}`;
    if (operation.outcome === 'fail') return `operation ${index} did not happen`;
    const end = operation.outcome === 'ok' ? (operation.return ?? 0) : Number.POSITIVE_INFINITY;
    if (end < latestInvoke)
      return `operation ${index} returned before the call of an operation that is placed earlier`;
    latestInvoke = Math.max(latestInvoke, operation.invoke);
    const part = model.partition?.(operation.call) ?? '';
    const before = statesOf.get(part) ?? [model.init];
    const states = before.flatMap((state) => model.step(state, operation.call));
    statesOf.set(part, states);
    if (states.length === 0) return `operation ${index} is illegal at its place in the order`;
  }
  const placed = new Set(order);
  if (placed.size < order.length) return 'an operation is placed twice';
  const missing = history.findIndex(({ outcome }, index) => outcome === 'ok' && !placed.has(index));
  return missing < 0 ? null : `operation ${missing} is not placed`;
}
