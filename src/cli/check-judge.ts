/**
 * Judges a history part by part (a part is one key or lock) within limits. Also explains invalid
 * parts and chooses the operations to draw. The order of a valid part is verified by code that
 * shares nothing with the search.
 */
import { assert } from '../core/kernel/assert.ts';
import type { Json } from '../core/kernel/json.ts';
import { type HistoryPart, readFailures, splitHistory } from '../linearizability/check-history.ts';
import { findCore } from '../linearizability/core.ts';
import { type CheckOptions, type Decision, decide } from '../linearizability/decide.ts';
import { allowanceAfter, explainHistory, type Reasons } from '../linearizability/explain.ts';
import { explainInWords } from '../linearizability/sentence.ts';
import { refuteOrder } from '../linearizability/verify-order.ts';
import {
  type HistoryReport,
  linesOf,
  type PartReport,
  type ReportedOperation,
} from '../report/history-report.ts';
import { countOf, groupDigits } from '../text/prose.ts';
import { type BadReturn, PartView, type ReadHistory } from './check-read.ts';
import { UserError } from './exit.ts';
import type { Interruption } from './interruption.ts';

interface JudgeOptions {
  readonly file: string;
  /** As in `CheckOptions`. */
  readonly failed: 'drop' | 'strict';
  readonly limits: CheckLimits;
  readonly interruption: Interruption;
  /** True to draw the first few valid parts, too. */
  readonly drawsValid: boolean;
  /** Called from time to time. */
  readonly onProgress: (decided: number, parts: number) => void;
}

/** Maximum number of invalid parts to explain. Further ones are only listed. */
const MOST_EXPLAINED = 100;
const MOST_VALID_DRAWN = 3;

/** Judges a history. After an interruption, the remaining parts are unknown. */
export function judgeHistory(read: ReadHistory, options: JudgeOptions): HistoryReport {
  const { model, isDetected, format } = read;
  const history = readFailures(read.history, model, options.failed);
  const parts = judgeParts(splitHistory(history, model), read, options);
  const worst: readonly Verdict[] = ['invalid', 'unknown'];
  return {
    file: options.file,
    format: format.name,
    model: model.name,
    isDetected,
    operations: history.length,
    processes: new Set(history.map(({ client }) => client)).size,
    verdict: worst.find((verdict) => parts.some((part) => part.verdict === verdict)) ?? 'valid',
    configurations: parts.reduce((sum, { configurations }) => sum + configurations, 0),
    parts,
    notes: notesOf(read, options.file),
  };
}

function judgeParts(
  split: readonly HistoryPart[],
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
        limits,
        drawsValid: left.valid > 0,
        explains: left.invalid > 0,
        onDecided: (decided) => {
          const because = `${decided.because} The check was interrupted before this was explained.`;
          reports[at] = { ...decided, because };
        },
      });
      reports[at] = report;
      if (report.verdict !== 'unknown') left[report.verdict] -= 1;
    });
  });
  const because = 'It was interrupted before this was decided.';
  return split.map((part, at) => reports[at] ?? { ...beforeDecision(part), because });
}

type Verdict = PartReport['verdict'];

/** Returns notes about input that its author may have meant differently. */
function notesOf(read: ReadHistory, file: string): string[] {
  const { hiddenReads, keyedByPair, ignoredValues, mayBeTruncated, disorder } = read;
  const notes: string[] = [];
  if (disorder !== null) {
    const { line, column, afterLine, count } = disorder;
    const earlier = `its time is before that of line ${afterLine}`;
    const others = count === 1 ? '' : `, and ${countOf(count - 1, 'more event')} like it`;
    const note = 'The events were judged in file order; --order time sorts them by time.';
    notes.push(`${file}:${line}:${column}: ${earlier}${others}. ${note}`);
  }
  if (hiddenReads > 0) {
    const reads = hiddenReads === 1 ? 'read of nil was' : 'reads of nil were';
    const why = 'as in Knossos: the object never holds nil';
    notes.push(`${groupDigits(hiddenReads)} ${reads} ignored, ${why}.`);
  }
  if (keyedByPair > 0) {
    const values = countOf(keyedByPair, 'operation');
    notes.push(`In ${values} a value of two is read as [key value], as Jepsen writes it.`);
  }
  if (ignoredValues > 0) {
    const values = countOf(ignoredValues, 'operation');
    notes.push(`The value of ${values} was ignored: it is not a string, so it names no lock.`);
  }
  if (mayBeTruncated) notes.push('The last line does not end with a newline: it may be truncated.');
  return notes;
}

interface PartOptions {
  readonly limits: CheckLimits;
  /** True to draw the part even if it is valid. */
  readonly drawsValid: boolean;
  /** True to look for a contradiction if the part is invalid. */
  readonly explains: boolean;
  /** Called before the part is explained, since the explanation may take long. */
  readonly onDecided: (report: PartReport) => void;
}

function judgePart(part: HistoryPart, read: ReadHistory, options: PartOptions): PartReport {
  const { model } = read;
  const { onDecided, limits } = options;
  const check = limits.checkOptions();
  const decision = decide(part.history, model, check);
  const view = new PartView(part, read);
  const isPerhapsLate = decision.kind === 'invalid' && decision.isPerhapsLate === true;
  const known = {
    ...beforeDecision(part),
    verdict: decision.kind,
    isPerhapsLate,
    configurations: decision.configurations,
    satisfied: countSatisfied(part, decision),
  };
  switch (decision.kind) {
    case 'valid': {
      const why = refuteOrder(part.history, model, decision.order);
      assert(why === null, `the order of a valid part is refuted: ${why ?? ''}`);
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
      if (options.explains) return { ...known, ...explainPart(view, bad, decision, check) };
      return { ...unexplained, because: `${unexplained.because} Other parts are explained.` };
    }
  }
}

function beforeDecision({ name, history }: HistoryPart): PartReport {
  const returns = history.filter(({ outcome }) => outcome === 'ok').length;
  const counts = { operations: history.length, configurations: 0, returns, satisfied: 0 };
  const nothing = { because: '', core: [], isMinimal: false, drawn: [], marks: [] };
  return { key: name, verdict: 'unknown', isPerhapsLate: false, ...counts, ...nothing };
}

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
  limits: CheckLimits,
): string {
  const isFull = cause === 'maxBytes' || (cause === 'shouldStop' && limits.reached === 'memory');
  if (isFull) return 'Memory limit reached (raise --memory)';
  if (cause === 'shouldStop') return 'Time limit reached (--time)';
  return `The search reached ${groupDigits(configurations)} configurations without a result`;
}

type Explained = Pick<PartReport, 'because' | 'core' | 'isMinimal' | 'drawn' | 'marks'>;

/** Explains an invalid part. If an earlier return may be the first bad one, gives only a core. */
function explainPart(
  view: PartView,
  bad: BadReturn,
  decision: Decision,
  options: CheckOptions,
): Explained {
  const { at, isPerhapsLate } = bad;
  const indices = calledBefore(view, at);
  const reasons = reasonsOf(view, bad, indices, { ...options, decision });
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
    const effect = index === at ? null : effects.get(index);
    return view.reported(index, roleOf(index), effect ?? null);
  });
  const inCore = chosen.map((index) => view.reported(index, roleOf(index)));
  const around = { drawn, marks: view.marksAround(drawn) };
  // A core that is not minimal is useless in two cases. If it contains only the bad return, no core
  // was found, since a return that is impossible alone gives a minimal core. If it is the complete
  // history, it may be too long to read.
  const size = core.required.length + core.optional.length;
  if (!core.isMinimal && (size <= 1 || (size > MOST_CORE && size === indices.length))) {
    const why = 'The contradiction was not found within the limits.';
    return { because: `${view.unexplained(bad)} ${why}`, core: [], isMinimal: false, ...around };
  }
  return {
    because: isPerhapsLate ? view.unexplained(bad) : becauseOf(view, reasons),
    core: inCore.sort((left, right) => left.invoke - right.invoke),
    // The removal of the bad return itself was not tried.
    isMinimal: core.isMinimal && !isPerhapsLate,
    ...around,
  };
}

/** Maximum number of core operations to draw. The others are listed. */
const MOST_CORE = 30;

/** Longer parts would take minutes to search. Only their latest calls are searched for a core. */
const MOST_SEARCHED = 200_000;

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
  { at, isPerhapsLate }: BadReturn,
  indices: readonly number[],
  { decision, ...options }: CheckOptions & { readonly decision: Decision },
): Reasons<Json> {
  const end = view.history[at]?.return ?? Number.POSITIVE_INFINITY;
  const history = indices.flatMap((index) => view.history[index] ?? []);
  const { partition: _, ...model } = view.model;
  const place = indices.indexOf(at);
  const { configurations } = decision;
  const verdict = { kind: 'invalid', at: place, configurations, part: '' } as const;
  const limited = { ...options, allowance: allowanceAfter(decision, options) };
  const onlyCore = isPerhapsLate || history.length > MOST_SEARCHED;
  const reasons: Reasons<Json> = onlyCore
    ? { at: place, prefix: [], possible: [], core: findCore(history, model, place, limited) }
    : explainHistory(history, model, verdict, options);
  const toIndices = (places: readonly number[]): number[] =>
    places.map((place) => indices[place] ?? 0);
  const { core } = reasons;
  const possible = reasons.possible.map(({ order, example, ...found }) => {
    const seen = example === undefined ? {} : { witness: indices[example] ?? example };
    return { ...found, ...seen, order: toIndices(order) };
  });
  return {
    at,
    prefix: toIndices(reasons.prefix),
    possible: possible.sort((left, right) => doubtOf(left, end, view) - doubtOf(right, end, view)),
    core: { ...core, required: toIndices(core.required), optional: toIndices(core.optional) },
  };
}

/** Returns how long after `end` the last call of an order returned. No return counts as late. */
function doubtOf({ order }: { order: readonly number[] }, end: number, view: PartView): number {
  const last = view.history[order.at(-1) ?? -1];
  if (last === undefined) return Number.MAX_SAFE_INTEGER;
  return last.return === null ? end : Math.max(0, last.return - end);
}

/** Explains a breach in a sentence that gives the lines of each client's operation. */
function becauseOf(view: PartView, reasons: Reasons<Json>): string {
  const named = [...view.history];
  const { required, optional } = reasons.core;
  for (const index of new Set([reasons.at, ...required, ...optional])) {
    const operation = view.history[index];
    if (operation === undefined) continue;
    const lines = linesOf(view.reported(index, 'other'));
    named[index] = { ...operation, client: `${operation.client} (${lines})` };
  }
  return explainInWords(named, view.model, reasons, (from, to) => view.spanInWords(from, to));
}

const MEGABYTE = 1_048_576;
/** Minimum memory for a search, so that every search can start. */
const LEAST_BYTES = 1 << 24;

interface LimitOptions {
  /** Maximum number of configurations of a search per part, or null for no limit. */
  readonly maxConfigurations: number | null;
  /** Maximum time, counted from the first decision, or null for no limit. */
  readonly timeMs: number | null;
  /** Maximum memory of the process, or null for no limit. */
  readonly memoryMb: number | null;
  /** Memory that the process still uses for earlier histories, in bytes. */
  readonly leftBehind: number;
}

export class CheckLimits {
  /** The limit that `shouldStop` hit last. */
  reached: 'time' | 'memory' | null = null;
  private readonly maxConfigurations: number | null;
  private readonly timeMs: number;
  private readonly memoryMb: number | null;
  private readonly mostBytes: number;
  private endMs: number = Number.POSITIVE_INFINITY;

  constructor({ maxConfigurations, timeMs, memoryMb, leftBehind }: LimitOptions) {
    this.maxConfigurations = maxConfigurations;
    this.timeMs = timeMs ?? Number.POSITIVE_INFINITY;
    this.memoryMb = memoryMb;
    const most = (memoryMb ?? Number.POSITIVE_INFINITY) * MEGABYTE + leftBehind;
    this.mostBytes = Math.max(most, process.memoryUsage.rss() + LEAST_BYTES);
  }

  /** Starts the clock, once the history has been read. */
  startClock(): void {
    this.endMs = performance.now() + this.timeMs;
  }

  /**
   * Throws a `UserError` beyond the memory limit. A history that is read in part cannot be judged.
   */
  refuseMore(file: string): void {
    if (process.memoryUsage.rss() <= this.mostBytes) return;
    const problem = `the history exceeds the ${this.memoryMb ?? 0} MB of --memory`;
    throw new UserError([`${file}:1:1: ${problem}`]);
  }

  /** Returns the limits that remain for a search that starts now. */
  checkOptions(): CheckOptions {
    const { memoryMb, maxConfigurations, mostBytes, shouldStop } = this;
    const maxBytes = Math.max(LEAST_BYTES, mostBytes - process.memoryUsage.rss());
    return {
      shouldStop,
      ...(maxConfigurations === null ? {} : { maxConfigurations }),
      ...(memoryMb === null ? {} : { maxBytes }),
    };
  }

  private readonly shouldStop = (): boolean => {
    if (performance.now() > this.endMs) this.reached = 'time';
    else if (process.memoryUsage.rss() > this.mostBytes) this.reached = 'memory';
    else return false;
    return true;
  };
}
