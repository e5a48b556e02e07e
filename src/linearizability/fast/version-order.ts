/**
 * Decides histories whose answers tell a version: the versions are the order, if there is one. They
 * are only a guess that is replayed, so what does not fit is left to the search.
 */
import type { Json } from '../../core/kernel/json.ts';
import type { FastDecision, Model } from '../model.ts';
import type { CallData, History } from '../operation.ts';
import { refuteOrder } from '../verify-order.ts';

/** Null unless every answered operation tells its version and their order is allowed. */
export function decideByVersion<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
): FastDecision | null {
  const order: number[] = [];
  const versions = new Float64Array(history.length);
  const isPure = new Uint8Array(history.length);
  for (const [index, { call, outcome }] of history.entries()) {
    if (outcome !== 'ok') continue;
    const version = model.versionOf?.(call) ?? null;
    if (version === null) return null;
    order.push(index);
    versions[index] = version;
    isPure[index] = model.isPure?.(call) ? 1 : 0;
  }
  order.sort((a, b) => {
    const byVersion = (versions[a] ?? 0) - (versions[b] ?? 0);
    const byEffect = (isPure[a] ?? 0) - (isPure[b] ?? 0);
    return byVersion || byEffect || (history[a]?.invoke ?? 0) - (history[b]?.invoke ?? 0);
  });
  return refuteOrder(history, model, order) === null ? { kind: 'valid', order } : null;
}
