/** Judges a history part by part, as far as it is let, and counts what came out. */
import { type HistoryPart, readFailures, splitHistory } from '../linearizability/check-history.ts';
import type { HistoryReport, PartReport } from '../report/history-report.ts';
import { countOf, groupDigits } from '../text/prose.ts';
import type { Limits } from './check-limits.ts';
import { judgePart, undecided } from './check-part.ts';
import type { ReadHistory } from './check-read.ts';
import type { Interruption } from './interruption.ts';

export interface JudgeOptions {
  readonly file: string;
  /** As `CheckOptions` has it. */
  readonly failed: 'drop' | 'strict';
  readonly maxConfigurations: number | null;
  readonly limits: Limits;
  readonly interruption: Interruption;
  /** Whether valid parts are drawn too, the first few of them. */
  readonly drawsValid: boolean;
  /** Told now and then how many of how many parts are decided. */
  readonly onProgress: (decided: number, parts: number) => void;
}

/** Beyond so many bad parts the others are named and not explained. */
const MOST_EXPLAINED = 100;
const MOST_VALID_DRAWN = 3;

/** When it is interrupted, what is known by then; the other parts are unknown. */
export function judgeHistory(read: ReadHistory, options: JudgeOptions): HistoryReport {
  const { model, isTold, format } = read;
  const history = readFailures(read.history, model, options.failed);
  const parts = judgeParts(splitHistory(history, model), read, options);
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

type Split = readonly HistoryPart[];

function judgeParts(
  split: Split,
  read: ReadHistory,
  { limits, interruption, onProgress, ...options }: JudgeOptions,
): readonly PartReport[] {
  const reports: PartReport[] = [];
  const left = { invalid: MOST_EXPLAINED, valid: options.drawsValid ? MOST_VALID_DRAWN : 0 };
  limits.startClock();
  interruption.run(() => {
    split.forEach((part, at) => {
      onProgress(at, split.length);
      const report = judgePart(part, read, {
        ...{ limits, maxConfigurations: options.maxConfigurations },
        ...{ drawsValid: left.valid > 0, explains: left.invalid > 0 },
        onDecided: (decided) => {
          const because = `${decided.because} It was interrupted before it was explained.`;
          reports[at] = { ...decided, because };
        },
      });
      reports[at] = report;
      if (report.verdict !== 'unknown') left[report.verdict] -= 1;
    });
  });
  return split.map((part, at) => reports[at] ?? undecided(part));
}

type Verdict = PartReport['verdict'];

function worstOf(parts: readonly PartReport[]): Verdict {
  const worst: readonly Verdict[] = ['invalid', 'unknown'];
  return worst.find((verdict) => parts.some((part) => part.verdict === verdict)) ?? 'valid';
}

/** What was read otherwise than one might think. */
function notesOf({ hiddenReads, keyedByPair, ignoredValues, mayBeCut }: ReadHistory): string[] {
  const notes: string[] = [];
  if (hiddenReads > 0) {
    const reads = hiddenReads === 1 ? 'read of nil says' : 'reads of nil say';
    const why = 'as in Knossos: the object never holds nil';
    notes.push(`${groupDigits(hiddenReads)} ${reads} nothing, ${why}.`);
  }
  if (keyedByPair > 0) {
    const values = countOf(keyedByPair, 'operation');
    notes.push(`In ${values} a value of two is read as [key value], as Jepsen writes it.`);
  }
  if (ignoredValues > 0) {
    const values = countOf(ignoredValues, 'operation');
    notes.push(`The value of ${values} says nothing: what names a lock is a text.`);
  }
  if (mayBeCut) notes.push('The last line does not end with a newline: it may be cut short.');
  return notes;
}
