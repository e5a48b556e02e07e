/** Judges one part of a history and puts together what a report needs of it. */
import { assert } from '../core/kernel/assert.ts';
import type { Json } from '../core/kernel/json.ts';
import type { HistoryPart } from '../linearizability/check-history.ts';
import { type CheckOptions, type Decision, decide } from '../linearizability/decide.ts';
import type { CallData, Model } from '../linearizability/model.ts';
import { refuteOrder } from '../linearizability/verify-order.ts';
import type { PartReport } from '../report/history-report.ts';
import { groupDigits } from '../text/prose.ts';
import { explainPart } from './check-explain.ts';
import type { Limits } from './check-limits.ts';
import type { ReadHistory } from './check-read.ts';
import { PartView } from './check-view.ts';

export interface PartOptions {
  readonly maxConfigurations: number | null;
  readonly limits: Limits;
  /** Whether it is drawn though it is valid. */
  readonly drawsValid: boolean;
  /** Whether a contradiction is looked for where it is invalid. */
  readonly explains: boolean;
  /** Told what is known before it is explained, which may take long. */
  readonly onDecided: (report: PartReport) => void;
}

export function judgePart(part: HistoryPart, read: ReadHistory, options: PartOptions): PartReport {
  const { model } = read;
  const { onDecided, limits } = options;
  const check = checkOptions(options);
  const decision = decide(part.history, model, check);
  const view = new PartView(part, read);
  const isPerhapsLate = decision.kind === 'invalid' && decision.isPerhapsLate === true;
  const known = {
    ...beforeDecision(part),
    ...{ verdict: decision.kind, isPerhapsLate, configurations: decision.configurations },
    satisfied: countSatisfied(part, decision),
  };
  switch (decision.kind) {
    case 'valid': {
      verify(part, model, decision.order);
      if (!options.drawsValid) return known;
      const drawn = view.drawValid(decision.order);
      return { ...known, drawn, marks: view.marksAround(drawn) };
    }
    case 'unknown': {
      const drawn = view.drawAround(decision.deepest);
      const because = `${causeOf(decision, limits)}; ${howFar(known, view, decision.deepest)}.`;
      return { ...known, because, drawn, marks: view.marksAround(drawn) };
    }
    case 'invalid': {
      const bad = { at: decision.at, satisfied: known.satisfied, isPerhapsLate };
      const unexplained = { ...known, because: view.unexplained(bad) };
      onDecided(unexplained);
      if (options.explains) return { ...known, ...explainPart(view, bad, check) };
      return { ...unexplained, because: `${unexplained.because} Other parts are explained.` };
    }
  }
}

/** A part of which nothing is known. */
export function undecided(part: HistoryPart): PartReport {
  return { ...beforeDecision(part), because: 'It was interrupted before this was decided.' };
}

function beforeDecision({ name, history }: HistoryPart): PartReport {
  const returns = history.filter(({ outcome }) => outcome === 'ok').length;
  const counts = { operations: history.length, configurations: 0, returns, satisfied: 0 };
  const nothing = { because: '', core: [], isMinimal: false, drawn: [], marks: [] };
  return { key: name, verdict: 'unknown', isPerhapsLate: false, ...counts, ...nothing };
}

function checkOptions({ maxConfigurations, limits }: PartOptions): CheckOptions {
  const maxBytes = limits.bytesLeft();
  return {
    shouldStop: limits.shouldStop,
    ...(maxConfigurations === null ? {} : { maxConfigurations }),
    ...(maxBytes === undefined ? {} : { maxBytes }),
  };
}

/** A valid verdict is worth its order, which shares no code with what found it. */
function verify(part: HistoryPart, model: Model<Json, CallData>, order: readonly number[]): void {
  const why = refuteOrder(part.history, model, order);
  assert(why === null, `the order of a valid part is refuted: ${why ?? ''}`);
}

/** How many returns come before the one that the decision is about. */
function countSatisfied({ history }: HistoryPart, decision: Decision): number {
  const completed = history.filter(({ outcome }) => outcome === 'ok');
  if (decision.kind === 'valid') return completed.length;
  const stuck = decision.kind === 'invalid' ? decision.at : decision.deepest;
  const end = history[stuck]?.return ?? 0;
  return completed.filter((operation) => (operation.return ?? 0) < end).length;
}

function howFar(
  { satisfied, returns }: Pick<PartReport, 'returns' | 'satisfied'>,
  view: PartView,
  deepest: number,
): string {
  const line = view.reported(deepest, 'other').returnLine ?? 0;
  const far = `${groupDigits(satisfied)} of ${groupDigits(returns)} returns`;
  return `an order satisfies ${far}, up to line ${line}`;
}

function causeOf(
  { cause, configurations }: Extract<Decision, { kind: 'unknown' }>,
  limits: Limits,
): string {
  const isFull = cause === 'maxBytes' || (cause === 'shouldStop' && limits.reached === 'memory');
  if (isFull) return 'The search used up its memory (--memory allows more)';
  if (cause === 'shouldStop') return 'The time of --time was over';
  return `The search met ${groupDigits(configurations)} configurations without an answer`;
}
