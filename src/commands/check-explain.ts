/** Explains a bad part: the contradiction, a sentence, and what to draw around it. */

import type { Json } from '../kernel/json.ts';
import { findCore } from '../linearizability/core.ts';
import type { CheckOptions } from '../linearizability/decide.ts';
import { explainHistory, type Reasons } from '../linearizability/explain.ts';
import { explainInWords } from '../linearizability/explain-in-words.ts';
import { linesOf, type PartReport, type ReportedOperation } from '../report/history-report.ts';
import type { PartView } from './check-view.ts';

type Explained = Pick<PartReport, 'because' | 'core' | 'isMinimal' | 'drawn' | 'marks'>;

/** `at` is the operation whose return is the first that no order satisfies. */
export function explainPart(view: PartView, at: number, options: CheckOptions): Explained {
  const indices = calledBefore(view, at);
  const reasons = reasonsOf(view, { at, indices }, options);
  const { core } = reasons;
  const inContradiction = new Set([...core.required, ...core.optional]);
  const roleOf = (index: number): ReportedOperation['role'] => {
    if (index === at) return 'first bad';
    return inContradiction.has(index) ? 'core' : 'other';
  };
  const chosen = [...new Set([at, ...inContradiction])];
  const shown = view.around(at, [at, ...chosen.filter((index) => index !== at).slice(-MOST_CORE)]);
  const effects = view.effectsOf(reasons.prefix, new Set(shown));
  const drawn = shown.map((index) => {
    const isPlaced = index !== at;
    return view.reported(index, roleOf(index), isPlaced ? (effects.get(index) ?? null) : null);
  });
  const inCore = chosen.map((index) => view.reported(index, roleOf(index)));
  return {
    because: becauseOf(view, reasons),
    core: inCore.sort((left, right) => left.invoke - right.invoke),
    isMinimal: core.isMinimal,
    drawn,
    marks: view.marksAround(drawn),
  };
}

/** More of a core is listed and not drawn. */
const MOST_CORE = 30;

/** Of a longer part, which is searched for minutes, only what came last is looked at. */
const MOST_SEARCHED = 200_000;

/**
 * What was called after the bad return has no part in it, so that it is left out before the history
 * is searched again and again.
 */
function calledBefore(view: PartView, at: number): readonly number[] {
  const end = view.history[at]?.return ?? Number.POSITIVE_INFINITY;
  const indices: number[] = [];
  view.history.forEach(({ invoke }, index) => {
    if (invoke <= end) indices.push(index);
  });
  return indices;
}

function reasonsOf(
  view: PartView,
  { at, indices }: { readonly at: number; readonly indices: readonly number[] },
  options: CheckOptions,
): Reasons<Json> {
  const end = view.history[at]?.return ?? Number.POSITIVE_INFINITY;
  const history = indices.flatMap((index) => view.history[index] ?? []);
  const { partition: _, ...model } = view.model;
  const verdict = {
    kind: 'invalid',
    at: indices.indexOf(at),
    configurations: 0,
    part: '',
  } as const;
  const reasons =
    history.length > MOST_SEARCHED
      ? {
          at: verdict.at,
          prefix: [],
          possible: [],
          core: findCore(history, model, verdict.at, options),
        }
      : explainHistory(history, model, verdict, options);
  const whole = (places: readonly number[]): number[] => places.map((place) => indices[place] ?? 0);
  const { core } = reasons;
  const possible = reasons.possible.map(({ state, order }) => ({ state, order: whole(order) }));
  return {
    at,
    prefix: whole(reasons.prefix),
    possible: possible.sort((left, right) => doubtOf(left, end, view) - doubtOf(right, end, view)),
    core: { ...core, required: whole(core.required), optional: whole(core.optional) },
  };
}

/** A state that is certain convinces most: what a call left behind that returned long before. */
function doubtOf({ order }: { order: readonly number[] }, end: number, view: PartView): number {
  const last = view.history[order.at(-1) ?? -1];
  if (last === undefined) return Number.MAX_SAFE_INTEGER;
  return last.return === null ? end : Math.max(0, last.return - end);
}

/** In the sentence each client stands with the lines of its operation. */
function becauseOf(view: PartView, reasons: Reasons<Json>): string {
  const named = [...view.history];
  const last = reasons.possible.map(({ order }) => order.at(-1) ?? -1);
  const { required, optional } = reasons.core;
  for (const index of new Set([reasons.at, ...last, ...required, ...optional])) {
    const operation = view.history[index];
    if (operation === undefined) continue;
    const lines = linesOf(view.reported(index, 'other'));
    named[index] = { ...operation, client: `${operation.client} (${lines})` };
  }
  return explainInWords(named, view.model, reasons);
}
