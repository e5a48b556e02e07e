/** Tests a model on sequential calls. */
import type { Json } from '../../core/kernel/json.ts';
import { checkHistory } from '../check-history.ts';
import type { CallData, Model } from '../model.ts';

/** Returns true if a model allows `calls` in this order, without overlap. */
export function allows<State extends Json, Call extends CallData>(
  model: Model<State, Call>,
  calls: readonly Call[],
): boolean {
  const history = calls.map((call, place) => {
    const span = { client: 'a', invoke: 2 * place, return: 2 * place + 1 };
    return { ...span, call, outcome: 'ok' as const };
  });
  return checkHistory(history, model).kind === 'valid';
}
