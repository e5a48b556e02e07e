/** Explains a bad part: the contradiction, a sentence, and what to draw around it. */

import type { Json } from '../kernel/json.ts';
import type { CheckOptions } from '../linearizability/decide.ts';
import { explainHistory, type Reasons } from '../linearizability/explain.ts';
import type { PartReport, ReportedOperation } from '../report/history-report.ts';
import { refusalSentence } from '../report/history-words.ts';
import type { PartView } from './check-view.ts';

type Explained = Pick<PartReport, 'because' | 'core' | 'isMinimal' | 'drawn' | 'marks'>;

/** `at` is the operation whose return is the first that no order satisfies. */
export function explainPart(view: PartView, at: number, options: CheckOptions): Explained {
  const reasons = reasonsOf(view, at, options);
  const { core } = reasons;
  const required = new Set(core.required);
  const roleOf = (index: number): ReportedOperation['role'] => {
    if (index === at) return 'first bad';
    return required.has(index) ? 'core' : 'other';
  };
  const chosen = [...new Set([at, ...core.required])];
  const shown = view.around(at, [
    at,
    ...core.required.filter((index) => index !== at).slice(-MOST_CORE),
  ]);
  const effects = view.effectsOf(reasons.prefix, new Set(shown));
  const drawn = shown.map((index) => {
    const isPlaced = index !== at;
    return view.reported(index, roleOf(index), isPlaced ? (effects.get(index) ?? null) : null);
  });
  const inCore = chosen.map((index) => view.reported(index, roleOf(index)));
  return {
    because: becauseOf(view, at, reasons),
    core: inCore.sort((left, right) => left.invoke - right.invoke),
    isMinimal: core.isMinimal,
    drawn,
    marks: view.marksAround(drawn),
  };
}

/** More of a core is listed and not drawn. */
const MOST_CORE = 30;

/**
 * What was called after the bad return has no part in it, so that it is left out before the history
 * is searched again and again.
 */
function reasonsOf(view: PartView, at: number, options: CheckOptions): Reasons<Json> {
  const end = view.history[at]?.return ?? Number.POSITIVE_INFINITY;
  const indices: number[] = [];
  view.history.forEach(({ invoke }, index) => {
    if (invoke <= end) indices.push(index);
  });
  const history = indices.flatMap((index) => view.history[index] ?? []);
  const { partition: _, ...model } = view.model;
  const verdict = {
    kind: 'invalid',
    at: indices.indexOf(at),
    configurations: 0,
    part: '',
  } as const;
  const reasons = explainHistory(history, model, verdict, options);
  const whole = (places: readonly number[]): number[] => places.map((place) => indices[place] ?? 0);
  const { core } = reasons;
  return {
    at,
    prefix: whole(reasons.prefix),
    possible: reasons.possible.map(({ state, order }) => ({ state, order: whole(order) })),
    core: { ...core, required: whole(core.required), optional: whole(core.optional) },
  };
}

function becauseOf(view: PartView, at: number, reasons: Reasons<Json>): string {
  const call = view.history[at]?.call;
  return refusalSentence({
    operation: view.reported(at, 'first bad'),
    needs: call === undefined ? '' : (view.model.needs?.(call) ?? ''),
    possible: reasons.possible.map(({ state, order }) => {
      const last = order.at(-1);
      const after = last === undefined ? null : view.reported(last, 'other');
      return { state: view.stateText(state), after };
    }),
  });
}
