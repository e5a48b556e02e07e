/** Asks a model about calls that come one at a time. */
import type { Json } from '../../core/kernel/json.ts';
import { checkHistory } from '../check-history.ts';
import type { CallData, Model } from '../model.ts';

/** Whether `calls`, each after the one before has returned, are allowed. */
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
