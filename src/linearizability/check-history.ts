/**
 * Decides whether a history is linearizable to a model: could its calls have come one at a time?
 */
import type { Json } from '../core/kernel/json.ts';
import { type CheckOptions, refuseOptions } from './check-options.ts';
import {
  decideHistory,
  decideParts,
  type HistoryVerdict,
  type PartVerdict,
} from './decide-history.ts';
import { refuseMalformed } from './malformed-operation.ts';
import type { Model } from './model.ts';
import type { CallData, History } from './operation.ts';

/**
 * One verdict on the whole: invalid when a part is, at the earliest of the first bad returns; else
 * unknown when a part is. `configurations` counts those of all parts. The order of a valid verdict
 * can be replayed with `refuteOrder`.
 *
 * Throws a `MalformedOperation`, which has the operation's `index`, for what is none: an unknown
 * `outcome`, an `invoke` or `return` that is no finite number, a return before the call, an `ok`
 * without a return, a call without a name, or one that the model refuses (`Model.mistakeIn`; those
 * of this package refuse unknown names and missing or impossible fields). Throws a `RangeError` for
 * an option that is none.
 */
export function checkHistory<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  options: CheckOptions = {},
): HistoryVerdict {
  refuseOptions(options);
  refuseMalformed(history, model);
  return decideHistory(history, model, options);
}

/**
 * Decides every part, in the order in which the history first names them: each on its own, so that
 * all bad ones are told. Throws as `checkHistory` does.
 */
export function checkParts<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  options: CheckOptions = {},
): readonly PartVerdict[] {
  refuseOptions(options);
  refuseMalformed(history, model);
  return decideParts(history, model, options);
}
