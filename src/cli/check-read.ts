/**
 * Reads a recorded history from a file in chunks, so that no large text is held in memory. Also
 * describes the operations of a part and chooses those to draw.
 */
import type { Json } from '../core/kernel/json.ts';
import type { HistoryPart } from '../linearizability/check-history.ts';
import {
  formatOf,
  formats,
  type OpenHistory,
  openHistory,
  TELLING_CHARACTERS,
} from '../linearizability/formats/formats.ts';
import type { BuildOptions, BuiltHistory } from '../linearizability/formats/history-builder.ts';
import type {
  EventOrder,
  FilePlace,
  Format,
  Malformed,
  RecordedMark,
  TimeDisorder,
} from '../linearizability/formats/record.ts';
import type { CallData, History, Model } from '../linearizability/model.ts';
import type { ReportedEffect, ReportedMark, ReportedOperation } from '../report/history-report.ts';
import { countOf } from '../text/prose.ts';
import { UserError } from './exit.ts';
import { systemMessage } from './files.ts';
import { readBytes } from './history-file.ts';

interface ReadOptions extends Omit<BuildOptions, 'format'> {
  /** Null to detect the format from the beginning of the file. */
  readonly format: Format | null;
  /** Default `file`. */
  readonly order?: EventOrder;
  /** Called from time to time with the number of operations read. */
  readonly onProgress: (operations: number) => void;
  /** Aborts the reading, which then throws an `AbortError`. */
  readonly signal?: AbortSignal;
}

export interface ReadHistory extends BuiltHistory {
  readonly format: Format;
  readonly marks: readonly RecordedMark[];
  readonly order: EventOrder;
  /** As in `HistoryReader`. */
  readonly mayBeTruncated: boolean;
  readonly disorder: TimeDisorder | null;
}

/** Reads the history in a file; `-` is standard input. Rejects with a `UserError`. */
export async function readHistoryFile(file: string, options: ReadOptions): Promise<ReadHistory> {
  const reading = new Reading(file, options);
  const { signal = new AbortController().signal } = options;
  try {
    for await (const chunk of readBytes(file, signal)) {
      reading.push(chunk);
      options.onProgress(reading.size);
    }
  } catch (error) {
    const isOfSystem = error instanceof Error && 'syscall' in error;
    // Any other error is the abort or a bug.
    if (!isOfSystem || signal.aborted) throw error;
    return reading.fail(systemMessage(error));
  }
  return reading.finish();
}

const FIRST: FilePlace = { line: 1, column: 1 };

interface Opened extends OpenHistory {
  readonly format: Format;
}

class Reading {
  private readonly file: string;
  private readonly options: ReadOptions;
  private readonly decoder: InstanceType<typeof TextDecoder> = new TextDecoder('utf-8', {
    fatal: true,
  });
  private isFirst = true;
  /** The beginning of the file, until its format is detected. */
  private head = '';
  private opened: Opened | null = null;

  constructor(file: string, options: ReadOptions) {
    this.file = file;
    this.options = options;
  }

  get size(): number {
    return this.opened?.builder.size ?? 0;
  }

  push(chunk: Uint8Array): void {
    const isPackedTwice = this.isFirst && chunk[0] === 0x1f && chunk[1] === 0x8b;
    if (isPackedTwice) this.fail('the file is compressed twice; gunzip it first');
    if (chunk.includes(0)) this.fail('a binary file, not a history');
    this.isFirst = false;
    const piece = this.decode(chunk);
    if (this.opened !== null) {
      this.refuse(this.opened.reader.push(piece));
      return;
    }
    this.head += piece;
    if (this.head.length >= TELLING_CHARACTERS) this.open();
  }

  finish(): ReadHistory {
    this.head += this.decode(null);
    if (this.opened === null && this.head.trim() === '') this.fail('the file is empty');
    const { format, reader, builder } = this.opened ?? this.open();
    this.refuse(reader.end());
    const built = builder.finish();
    if ('what' in built) this.fail(built.what, built);
    const { order = 'file' } = this.options;
    const mayBeTruncated = reader.mayBeTruncated?.() ?? false;
    const disorder = reader.disorder?.() ?? null;
    return { ...built, format, order, marks: reader.marks, mayBeTruncated, disorder };
  }

  fail(problem: string, { line, column }: FilePlace = FIRST): never {
    throw new UserError([`${this.file}:${line}:${column}: ${problem}`]);
  }

  private open(): Opened {
    const format = this.options.format ?? formatOf(this.head);
    if (format === null) {
      const names = formats.map(({ name }) => name).join(', ');
      this.fail(`unknown format; name it with --format: ${names}`);
    }
    this.opened = { format, ...openHistory({ ...this.options, format }) };
    this.refuse(this.opened.reader.push(this.head));
    this.head = '';
    return this.opened;
  }

  private refuse(problem: Malformed | null): void {
    if (problem !== null) this.fail(problem.what, problem);
  }

  /** Decodes a chunk; null at the end of the file. */
  private decode(chunk: Uint8Array | null): string {
    try {
      return chunk === null ? this.decoder.decode() : this.decoder.decode(chunk, { stream: true });
    } catch {
      return this.fail('not UTF-8 text');
    }
  }
}

/** An operation whose return fits into no order. */
export interface BadReturn {
  readonly at: number;
  /** The number of earlier returns. */
  readonly satisfied: number;
  /** True if an earlier return may already fit into no order. */
  readonly isPerhapsLate: boolean;
}

const MOST_DRAWN = 40;

export class PartView {
  readonly history: History<CallData>;
  readonly model: Model<Json, CallData>;
  private readonly part: HistoryPart;
  private readonly read: ReadHistory;

  constructor(part: HistoryPart, read: ReadHistory) {
    this.part = part;
    this.read = read;
    this.history = part.history;
    this.model = read.model;
  }

  /** Describes an operation, given its index in the part. */
  reported(
    index: number,
    role: ReportedOperation['role'],
    effect: ReportedEffect | null = null,
  ): ReportedOperation {
    const operation = this.history[index];
    const source = this.part.indices[index] ?? 0;
    const returnLine = this.read.returnLines.get(source);
    return {
      index,
      process: operation?.client ?? '',
      text: operation === undefined ? '' : this.textOf(operation.call),
      isKnown: operation?.outcome === 'ok',
      invoke: operation?.invoke ?? 0,
      return: operation?.return ?? null,
      invokeLine: this.read.invokeLines.get(source),
      returnLine: returnLine === 0 ? null : returnLine,
      role,
      effect,
    };
  }

  /** Returns a brief reason why a part is invalid. */
  unexplained({ at, satisfied, isPerhapsLate }: BadReturn): string {
    const { text, process, returnLine } = this.reported(at, 'first bad');
    if (!isPerhapsLate) return `No order satisfies the return of \`${text}\` by ${process}.`;
    const returns = countOf(satisfied + 1, 'return');
    const where = `No order satisfies the first ${returns}, up to line ${returnLine ?? 0}`;
    return `${where}; the first return that fits no order was not found within the limits.`;
  }

  /** Describes the span from a call to a return, by line numbers if these show the order. */
  spanInWords(from: number | null, to: number): string {
    const last = this.history.findIndex((operation) => operation.return === to);
    const { invokeLine, returnLine } = this.reported(last, 'other');
    const called = this.history.findIndex(({ invoke }) => invoke === from);
    const first = this.reported(called, 'other').invokeLine;
    const isInOrder = this.read.order === 'file' && returnLine !== null && returnLine > invokeLine;
    const isByLine = last >= 0 && isInOrder && first > 0;
    if (from === null) return isByLine ? `up to line ${returnLine}` : `up to ${to}`;
    return isByLine ? `in lines ${first}–${returnLine}` : `between ${from} and ${to}`;
  }

  /** Returns the first operations of a valid part, with their effects in `order`. */
  drawValid(order: readonly number[]): readonly ReportedOperation[] {
    const happened = this.indicesOf(({ outcome }) => outcome !== 'fail');
    const first = lowest(MOST_DRAWN, happened, (index) => this.invokeOf(index));
    const effects = this.effectsOf(order, new Set(first));
    return first.map((index) => this.reported(index, 'other', effects.get(index) ?? null));
  }

  /** Returns the operations around the return of one operation. */
  drawAround(at: number): readonly ReportedOperation[] {
    return this.around(at, [at]).map((index) => this.reported(index, 'other'));
  }

  /**
   * Adds to `chosen` the operations that were last active before `at` returned, up to the limit.
   */
  around(at: number, chosen: readonly number[]): readonly number[] {
    const end = this.history[at]?.return ?? Number.POSITIVE_INFINITY;
    const must = new Set(chosen);
    const space = Math.max(0, MOST_DRAWN - must.size);
    const before = this.indicesOf(
      ({ invoke, outcome }, index) => invoke <= end && outcome !== 'fail' && !must.has(index),
    );
    const others = lowest(space, before, (index) => -this.lastOf(index));
    return [...chosen, ...others].sort((left, right) => this.invokeOf(left) - this.invokeOf(right));
  }

  marksAround(drawn: readonly ReportedOperation[]): readonly ReportedMark[] {
    const from = drawn[0]?.invoke ?? 0;
    const to = Math.max(...drawn.map((operation) => operation.return ?? operation.invoke));
    return this.read.marks.filter(({ position }) => position > from && position < to);
  }

  /**
   * Returns the earliest position at which each of `shown` can take effect in an order. Includes
   * the state while the model is deterministic.
   */
  effectsOf(
    order: readonly number[],
    shown: ReadonlySet<number>,
  ): ReadonlyMap<number, ReportedEffect> {
    const effects = new Map<number, ReportedEffect>();
    let position = Number.NEGATIVE_INFINITY;
    let state: Json | undefined = this.model.init;
    order.forEach((index, place) => {
      const operation = this.history[index];
      if (operation === undefined) return;
      position = Math.max(position, operation.invoke);
      const next: readonly Json[] =
        state === undefined ? [] : this.model.step(state, operation.call);
      state = next.length === 1 ? next[0] : undefined;
      if (shown.has(index)) {
        effects.set(index, { rank: place + 1, position, state: this.stateText(state) });
      }
    });
    return effects;
  }

  private textOf(call: CallData): string {
    return this.model.describe?.(call) ?? JSON.stringify(call);
  }

  private stateText(state: Json | undefined): string {
    if (state === undefined) return '';
    return this.model.describeState?.(state) ?? `it is ${JSON.stringify(state)}`;
  }

  private *indicesOf(
    isMeant: (operation: History<CallData>[number], index: number) => boolean,
  ): Iterable<number> {
    for (const [index, operation] of this.history.entries()) {
      if (isMeant(operation, index)) yield index;
    }
  }

  private invokeOf(index: number): number {
    return this.history[index]?.invoke ?? 0;
  }

  private lastOf(index: number): number {
    const operation = this.history[index];
    return operation?.return ?? operation?.invoke ?? 0;
  }
}

/** Returns the `count` lowest items in ascending order, without sorting all of them. Stable. */
function lowest(count: number, items: Iterable<number>, rank: (item: number) => number): number[] {
  const best = (some: number[]): number[] =>
    some.sort((left, right) => rank(left) - rank(right)).slice(0, count);
  let kept: number[] = [];
  for (const item of items) {
    kept.push(item);
    if (kept.length > 16 * count + 16) kept = best(kept);
  }
  return best(kept);
}
