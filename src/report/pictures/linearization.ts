/**
 * Computes a possible sequential order of a store's operations, as found by the checker of
 * `linearizable`, for the picture. The order ends at the first return that no order satisfies.
 */
import { firstRowOf } from '../../check/linearizable.ts';
import {
  asSeen,
  type ClientHistory,
  storeModels,
  storeOperations,
} from '../../check/store-models.ts';
import { indexTrace } from '../../check/trace-index.ts';
import type { Trace } from '../../core/history/trace.ts';
import type { Json } from '../../core/kernel/json.ts';
import { checkHistory } from '../../linearizability/check-history.ts';
import { explainHistory } from '../../linearizability/explain.ts';
import type { CallData, Model } from '../../linearizability/model.ts';

/** The point at which an operation takes effect in the order that was found. */
export interface LinearPoint {
  readonly process: string;
  readonly operation: string;
  /** Place of the operation in the order, from 1. */
  readonly rank: number;
  /** Index of the earliest event at which the operation can take effect. */
  readonly event: number;
}

export interface Linearization {
  readonly points: readonly LinearPoint[];
  /** The return that no order satisfies. */
  readonly bad: { readonly process: string; readonly event: number } | null;
}

const MAX_CONFIGURATIONS = 20_000;

/**
 * Returns the order of the operations of the first store that violates the claim. Returns null for
 * other claims, for user-defined models, and if the search found no violation within its limits.
 * `model` is the model of the store, or null if it has no specification.
 */
export function linearizationOf(
  trace: Trace,
  { claim, model }: { readonly claim: string; readonly model: string | null },
): Linearization | null {
  const [, key = null] = /^linearizable\((.*)\)$/.exec(claim) ?? [];
  if (key === null && claim !== 'linearizable') return null;
  const definition = storeModels.get(key ?? model ?? '');
  if (definition === undefined) return null;
  const indexed = indexTrace(trace);
  for (const operations of storeOperations(indexed)) {
    const first = firstRowOf(indexed, operations);
    const found = asSeen(operations, { definition, first }, explainSeen);
    if (found !== null) return found;
  }
  return null;
}

function explainSeen<C extends CallData>(
  { history, sources }: ClientHistory<C>,
  model: Model<Json, C>,
): Linearization | null {
  const options = { maxConfigurations: MAX_CONFIGURATIONS };
  const verdict = checkHistory(history, model, options);
  if (verdict.kind !== 'invalid') return null;
  const { prefix, at } = explainHistory(history, model, verdict, options);
  let event = 0;
  const points = prefix.flatMap((index, place): LinearPoint[] => {
    const source = sources[index];
    if (source === undefined) return [];
    const { invoke } = source.log;
    event = Math.max(event, history[index]?.invoke ?? 0);
    const { process, operation } = invoke.event;
    return [{ process, operation, rank: place + 1, event }];
  });
  const bad = sources[at]?.log.return;
  return { points, bad: bad ? { process: bad.event.process, event: bad.index } : null };
}
