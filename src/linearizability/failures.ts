/** Decides what failed operations say: nothing, or that what they asked for was not possible. */
import type { Json } from '../core/kernel/json.ts';
import type { Model } from './model.ts';
import type { CallData, History } from './operation.ts';

/**
 * The history as `failed` reads it; indices stay. With `drop` a failed operation did not happen.
 * With `strict` it is an answer where the model gives a failure a meaning: a failed cas found
 * another value, a failed acquire met a holder.
 */
export function readFailures<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  failed: 'drop' | 'strict' = 'drop',
): History<Call> {
  if (failed === 'drop' || model.whenFailed === undefined) return history;
  return history.map((operation) => {
    if (operation.outcome !== 'fail' || operation.return === null) return operation;
    const call = model.whenFailed?.(operation.call) ?? null;
    return call === null ? operation : { ...operation, call, outcome: 'ok' };
  });
}
