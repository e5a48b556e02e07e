/**
 * Decides small histories by trying every order, which is the definition, to test the search.
 */
import type { Json } from '../../src/core/kernel/json.ts';
import type { CallData, History, Model, Operation } from '../../src/linearizability/model.ts';

/** Takes time exponential in the length; for one object, and about 8 operations. */
export function isLinearizable<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
): boolean {
  return canPlace(
    history.filter(({ outcome }) => outcome !== 'fail'),
    model.init,
    model,
  );
}

/** Returns true if all of `left` can follow `state`; those without an answer are optional. */
function canPlace<State extends Json, Call extends CallData>(
  left: History<Call>,
  state: State,
  model: Model<State, Call>,
): boolean {
  if (left.every(({ outcome }) => outcome === 'info')) return true;
  return left.some((operation) => {
    if (left.some((other) => endOf(other) < operation.invoke)) return false;
    const others = left.filter((other) => other !== operation);
    return model.step(state, operation.call).some((next) => canPlace(others, next, model));
  });
}

function endOf<Call>(operation: Operation<Call>): number {
  return operation.outcome === 'ok' ? (operation.return ?? 0) : Number.POSITIVE_INFINITY;
}
