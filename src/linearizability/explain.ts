/**
 * Gathers why a history is not linearizable: how far it was, what it met there, and what
 * contradicts.
 */
import type { Json } from '../core/kernel/json.ts';
import type { CheckOptions } from './check-options.ts';
import { type Core, findCore } from './core.ts';
import { decide } from './decide.ts';
import type { HistoryVerdict } from './decide-history.ts';
import { readFailures } from './failures.ts';
import type { Model } from './model.ts';
import type { CallData, History } from './operation.ts';
import { splitHistory } from './parts.ts';
import { cutHistory, leaveOut } from './relax.ts';
import { findPossibleStates, type PossibleState } from './run-search.ts';
import { findWitness } from './witness.ts';

/** A state that the bad operation may have found. */
export interface ExplainedState<State> extends PossibleState<State> {
  /**
   * An operation that returned before the bad one was called, and fits into no order unless the
   * last of `order` came before that: so the bad one cannot have come first. Only where the last
   * one overlaps it and such an operation was found.
   */
  readonly witness?: number;
}

/** All indices are those of the whole history, and all operations are of the verdict's part. */
export interface Reasons<State> {
  /** The operation whose return no order satisfies: the first such one, as far as is known. */
  readonly at: number;
  /**
   * An order of all that returned before, with what else it needs: the longest linearizable prefix.
   */
  readonly prefix: readonly number[];
  /**
   * States that `at` may have found, at most 16; it is illegal in every possible one. Where those
   * are too many to visit, the ones that the core alone leads to.
   */
  readonly possible: readonly ExplainedState<State>[];
  readonly core: Core;
}

const maxPossibleStates = 16;
const maxConfigurationsThere = 50_000;
/** In place of an index: there is none. */
const none = -1;

/**
 * `history`, `model` and `options` are those of `verdict`, which `checkHistory` gave; here
 * `maxConfigurations` bounds the search for a core, 50,000 by default, and each of the others.
 * Costs many times what the verdict did, so it is not part of it.
 */
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
  const core = findCore(own, model, at, options);
  return {
    at: verdict.at,
    prefix: before.kind === 'valid' ? inWhole(before.order) : [],
    possible: statesThere(own, model, { at, core, options }).map(({ state, order }) => {
      const witness = findWitness(own, model, { at, last: order.at(-1) ?? none, options });
      const explained = { state, order: inWhole(order) };
      return witness === null ? explained : { ...explained, witness: indices[witness] ?? witness };
    }),
    core: { ...core, required: inWhole(core.required), optional: inWhole(core.optional) },
  };
}

function statesThere<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  {
    at,
    core,
    options,
  }: { readonly at: number; readonly core: Core; readonly options: CheckOptions },
): readonly PossibleState<State>[] {
  const few = Math.min(options.maxConfigurations ?? maxConfigurationsThere, maxConfigurationsThere);
  const limited = { ...options, maxConfigurations: few, limit: maxPossibleStates };
  const all = findPossibleStates(cutHistory(history, at, 'after'), model, limited);
  if (all.length > 0) return all;
  const required = new Set(core.required);
  const alone = history.map((one, index) => (required.has(index) ? one : leaveOut(one)));
  // Nobody knows what it was before the core.
  return findPossibleStates(alone, model, limited).filter(({ order }) => order.length > 0);
}
