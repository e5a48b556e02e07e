/** Judges a history part by part and puts together what a report needs of each. */
import { assert } from '../kernel/assert.ts';
import type { Json } from '../kernel/json.ts';
import { type CheckOptions, type Decision, decide } from '../linearizability/decide.ts';
import { readFailures } from '../linearizability/failures.ts';
import type { Model } from '../linearizability/model.ts';
import type { CallData } from '../linearizability/operation.ts';
import { type Part, splitHistory } from '../linearizability/parts.ts';
import { refuteOrder } from '../linearizability/verify-order.ts';
import type { HistoryReport, PartReport } from '../report/history-report.ts';
import { groupDigits } from '../report/prose.ts';
import { explainPart } from './check-explain.ts';
import { LEAST_BYTES, type Limits } from './check-limits.ts';
import type { ReadHistory } from './check-read.ts';
import { PartView } from './check-view.ts';

export interface JudgeOptions {
  readonly file: string;
  /** As `CheckOptions` has it. */
  readonly failed: 'drop' | 'strict';
  readonly maxConfigurations: number | null;
  /** Megabytes that the process may fill. */
  readonly maxMb: number | null;
  readonly limits: Limits;
  /** Whether valid parts are drawn too, the first few of them. */
  readonly drawsValid: boolean;
  /** Told now and then how many of how many parts are decided. */
  readonly onProgress: (decided: number, parts: number) => void;
}

/** Beyond so many bad parts the others are named and not explained. */
const MOST_EXPLAINED = 100;
const MOST_VALID_DRAWN = 3;

export function judgeHistory(read: ReadHistory, options: JudgeOptions): HistoryReport {
  const { model, isTold, format } = read;
  const history = readFailures(read.history, model, options.failed);
  const split = splitHistory(history, model);
  const left = { invalid: MOST_EXPLAINED, valid: options.drawsValid ? MOST_VALID_DRAWN : 0 };
  const parts = split.map((part, at): PartReport => {
    options.onProgress(at, split.length);
    const report = judgePart(part, read, options, left);
    if (report.verdict !== 'unknown') left[report.verdict] -= 1;
    return report;
  });
  return {
    file: options.file,
    format: format.name,
    model: model.name,
    isTold,
    operations: history.length,
    processes: new Set(history.map(({ client }) => client)).size,
    verdict: worstOf(parts),
    configurations: parts.reduce((sum, { configurations }) => sum + configurations, 0),
    parts,
    notes: notesOf(read),
  };
}

type Verdict = PartReport['verdict'];

function worstOf(parts: readonly PartReport[]): Verdict {
  const worst: readonly Verdict[] = ['invalid', 'unknown'];
  return worst.find((verdict) => parts.some((part) => part.verdict === verdict)) ?? 'valid';
}

function notesOf({ hiddenReads, mayBeCut }: ReadHistory): readonly string[] {
  const notes: string[] = [];
  if (hiddenReads > 0) {
    const reads = hiddenReads === 1 ? 'read of nil says' : 'reads of nil say';
    const why = 'as in Knossos: the object never holds nil';
    notes.push(`${groupDigits(hiddenReads)} ${reads} nothing, ${why}.`);
  }
  if (mayBeCut) notes.push('The last line does not end with a newline: it may be cut short.');
  return notes;
}

function judgePart(
  part: Part<CallData>,
  read: ReadHistory,
  options: JudgeOptions,
  left: { readonly invalid: number; readonly valid: number },
): PartReport {
  const { model } = read;
  const check = checkOptions(options);
  const decision = decide(part.history, model, check);
  const view = new PartView(part, read);
  const known = {
    key: part.name,
    verdict: decision.kind,
    operations: part.history.length,
    configurations: decision.configurations,
    ...countReturns(part, decision),
  };
  switch (decision.kind) {
    case 'valid': {
      verify(part, model, decision.order);
      if (left.valid <= 0) return { ...known, ...NOTHING };
      const drawn = view.drawValid(decision.order);
      return { ...known, ...NOTHING, drawn, marks: view.marksAround(drawn) };
    }
    case 'unknown': {
      const drawn = view.drawAround(decision.deepest);
      const because = unknownBecause(decision, { options, known, view });
      return { ...known, ...NOTHING, because, drawn, marks: view.marksAround(drawn) };
    }
    case 'invalid': {
      if (left.invalid <= 0)
        return { ...known, ...NOTHING, because: unexplained(view, decision.at) };
      return { ...known, ...explainPart(view, decision.at, check) };
    }
  }
}

const NOTHING = { because: '', core: [], isMinimal: false, drawn: [], marks: [] };

function checkOptions({ maxConfigurations, maxMb, limits }: JudgeOptions): CheckOptions {
  return {
    shouldStop: limits.shouldStop,
    ...(maxConfigurations === null ? {} : { maxConfigurations }),
    ...(maxMb === null ? {} : { maxBytes: bytesLeft(maxMb) }),
  };
}

/** What the search may fill beside the history; a little in any case, so that it begins. */
function bytesLeft(maxMb: number): number {
  return Math.max(LEAST_BYTES, maxMb * 1_048_576 - process.memoryUsage.rss());
}

/** A valid verdict is worth its order, which shares no code with what found it. */
function verify(
  part: Part<CallData>,
  model: Model<Json, CallData>,
  order: readonly number[],
): void {
  const why = refuteOrder(part.history, model, order);
  assert(why === null, `the order of a valid part is refuted: ${why ?? ''}`);
}

function countReturns(
  { history }: Part<CallData>,
  decision: Decision,
): Pick<PartReport, 'returns' | 'satisfied'> {
  const completed = history.filter(({ outcome }) => outcome === 'ok');
  if (decision.kind === 'valid') return { returns: completed.length, satisfied: completed.length };
  const stuck = decision.kind === 'invalid' ? decision.at : decision.deepest;
  const end = history[stuck]?.return ?? 0;
  const satisfied = completed.filter((operation) => (operation.return ?? 0) < end).length;
  return { returns: completed.length, satisfied };
}

function unexplained(view: PartView, at: number): string {
  const { text, process } = view.reported(at, 'first bad');
  return `\`${text}\` by ${process} fits into no order; ${MOST_EXPLAINED} other parts are explained.`;
}

function unknownBecause(
  decision: Extract<Decision, { kind: 'unknown' }>,
  context: {
    readonly options: JudgeOptions;
    readonly known: Pick<PartReport, 'returns' | 'satisfied'>;
    readonly view: PartView;
  },
): string {
  const { known, view, options } = context;
  const line = view.reported(decision.deepest, 'other').returnLine ?? 0;
  const far = `${groupDigits(known.satisfied)} of ${groupDigits(known.returns)} returns`;
  return `${causeOf(decision, options)}; an order satisfies ${far}, up to line ${line}.`;
}

function causeOf(
  { cause, configurations }: Extract<Decision, { kind: 'unknown' }>,
  { limits }: JudgeOptions,
): string {
  const isFull = cause === 'maxBytes' || (cause === 'shouldStop' && limits.reached === 'memory');
  if (isFull) return 'The search used up its memory (--memory allows more)';
  if (cause === 'shouldStop') return 'The time of --time was over';
  return `The search met ${groupDigits(configurations)} configurations without an answer`;
}
