/** Decides a history part by part, and puts the parts' decisions together. */
import type { Json } from '../core/kernel/json.ts';
import { type DecideOptions, type Decision, decide } from './decide.ts';
import { readFailures } from './failures.ts';
import type { Model } from './model.ts';
import type { CallData, History } from './operation.ts';
import { mergeOrders, type Part, splitHistory } from './parts.ts';

/**
 * A decision about a whole history. `part` names the object that it is about, '' when the model
 * knows only one; all indices are those of the whole history.
 */
export type HistoryVerdict =
  | Extract<Decision, { kind: 'valid' }>
  | (Exclude<Decision, { kind: 'valid' }> & { readonly part: string });

/** What was decided about one part. Its indices are those of the whole history. */
export interface PartVerdict {
  /** The object's name, '' when the model knows only one. */
  readonly name: string;
  readonly decision: Decision;
}

/** As `checkHistory`, of a history that is known to be one. */
export function decideHistory<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  options: DecideOptions = {},
): HistoryVerdict {
  const orders: (readonly number[])[] = [];
  let worst: Exclude<HistoryVerdict, { kind: 'valid' }> | null = null;
  let configurations = 0;
  for (const { name, decision } of decideParts(history, model, options)) {
    configurations += decision.configurations;
    if (decision.kind === 'valid') orders.push(decision.order);
    else if (worst === null || isWorse(history, decision, worst))
      worst = { ...decision, part: name };
  }
  if (worst !== null) return { ...worst, configurations };
  return { kind: 'valid', order: mergeOrders(history, orders), configurations };
}

/** As `checkParts`, of a history that is known to be one. */
export function decideParts<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  options: DecideOptions = {},
): readonly PartVerdict[] {
  const read = readFailures(history, model, options.failed);
  return splitHistory(read, model).map((part) => {
    return { name: part.name, decision: inWhole(part, decide(part.history, model, options)) };
  });
}

function inWhole<Call>(part: Part<Call>, decision: Decision): Decision {
  const whole = (index: number): number => part.indices[index] ?? index;
  if (decision.kind === 'valid') return { ...decision, order: decision.order.map(whole) };
  if (decision.kind === 'invalid') return { ...decision, at: whole(decision.at) };
  return { ...decision, deepest: whole(decision.deepest) };
}

function isWorse<Call>(history: History<Call>, one: Decision, other: Decision): boolean {
  if (one.kind !== 'invalid') return false;
  if (other.kind !== 'invalid') return true;
  return (history[one.at]?.return ?? 0) < (history[other.at]?.return ?? 0);
}
