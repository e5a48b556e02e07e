/**
 * Gathers why a history is not linearizable: how far it was, what it met there, and what
 * contradicts.
 */
import type { Json } from '../kernel/json.ts';
import type { HistoryVerdict } from './check-history.ts';
import { type Core, findCore } from './core.ts';
import { type CheckOptions, decide } from './decide.ts';
import { readFailures } from './failures.ts';
import type { Model } from './model.ts';
import type { CallData, History } from './operation.ts';
import { splitHistory } from './parts.ts';
import { cutHistory } from './relax.ts';
import { findPossibleStates, type PossibleState } from './run-search.ts';

/** All indices are those of the whole history, and all operations are of the verdict's part. */
export interface Reasons<State> {
  /** The operation whose return is the first that no order satisfies. */
  readonly at: number;
  /**
   * An order of all that returned before, with what else it needs: the longest linearizable prefix.
   */
  readonly prefix: readonly number[];
  /** States that `at` may have found, at most 16; it is illegal in every possible one. */
  readonly possible: readonly PossibleState<State>[];
  readonly core: Core;
}

const maxPossibleStates = 16;

/** Costs many times what the verdict did, so it is not part of it. */
export function explainHistory<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  verdict: Extract<HistoryVerdict, { kind: 'invalid' }>,
  options: CheckOptions = {},
): Reasons<State> {
  const read = readFailures(history, model, options.failed);
  const part = splitHistory(read, model).find(({ name }) => name === verdict.part);
  const indices = part?.indices ?? [];
  const own = part?.history ?? [];
  const at = indices.indexOf(verdict.at);
  const inWhole = (places: readonly number[]): number[] => places.map((i) => indices[i] ?? i);
  const before = decide(cutHistory(own, at, 'before'), model, options);
  const limited = { ...options, limit: maxPossibleStates };
  const core = findCore(own, model, at, options);
  return {
    at: verdict.at,
    prefix: before.kind === 'valid' ? inWhole(before.order) : [],
    possible: findPossibleStates(cutHistory(own, at, 'after'), model, limited).map(
      ({ state, order }) => ({ state, order: inWhole(order) }),
    ),
    core: { ...core, required: inWhole(core.required), optional: inWhole(core.optional) },
  };
}
