/** Explains a bad part: the contradiction, a sentence, and what to draw around it. */

import type { Json } from '../core/kernel/json.ts';
import { type Core, findCore } from '../linearizability/core.ts';
import type { CheckOptions } from '../linearizability/decide.ts';
import { explainHistory, explainInWords, type Reasons } from '../linearizability/explain.ts';
import { linesOf, type PartReport, type ReportedOperation } from '../report/history-report.ts';
import type { BadReturn, PartView } from './check-view.ts';

type Explained = Pick<PartReport, 'because' | 'core' | 'isMinimal' | 'drawn' | 'marks'>;

/** Of a return that is perhaps late only the core is looked for, which stands by itself. */
export function explainPart(view: PartView, bad: BadReturn, options: CheckOptions): Explained {
  const { at, isPerhapsLate } = bad;
  const indices = calledBefore(view, at);
  const reasons = reasonsOf(view, { at, isPerhapsLate, indices }, options);
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
  const around = { drawn, marks: view.marksAround(drawn) };
  if (isUnfound(core, indices.length)) {
    const why = 'What contradicts it was not found within the limits.';
    return { because: `${view.unexplained(bad)} ${why}`, core: [], isMinimal: false, ...around };
  }
  return {
    because: isPerhapsLate ? view.unexplained(bad) : becauseOf(view, reasons),
    core: inCore.sort((left, right) => left.invoke - right.invoke),
    // The bad return itself was not tried.
    isMinimal: core.isMinimal && !isPerhapsLate,
    ...around,
  };
}

/**
 * Whether a core says nothing: it is the bad return alone, which was not tried, since what is
 * impossible by itself is minimal; or so many operations as nobody reads, of which none was spared.
 */
function isUnfound({ required, optional, isMinimal }: Core, operations: number): boolean {
  const size = required.length + optional.length;
  return !isMinimal && (size <= 1 || (size > MOST_CORE && size === operations));
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
  {
    at,
    isPerhapsLate,
    indices,
  }: Pick<BadReturn, 'at' | 'isPerhapsLate'> & { readonly indices: readonly number[] },
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
    isPerhapsLate || history.length > MOST_SEARCHED
      ? {
          at: verdict.at,
          prefix: [],
          possible: [],
          core: findCore(history, model, verdict.at, options),
        }
      : explainHistory(history, model, verdict, options);
  const whole = (places: readonly number[]): number[] => places.map((place) => indices[place] ?? 0);
  const { core } = reasons;
  const possible = reasons.possible.map(({ order, witness, ...found }) => {
    const seen = witness === undefined ? {} : { witness: indices[witness] ?? witness };
    return { ...found, ...seen, order: whole(order) };
  });
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
  const last = reasons.possible.flatMap(({ order, witness = -1 }) => [order.at(-1) ?? -1, witness]);
  const { required, optional } = reasons.core;
  for (const index of new Set([reasons.at, ...last, ...required, ...optional])) {
    const operation = view.history[index];
    if (operation === undefined) continue;
    const lines = linesOf(view.reported(index, 'other'));
    named[index] = { ...operation, client: `${operation.client} (${lines})` };
  }
  return explainInWords(named, view.model, reasons);
}
