/**
 * Shows a part of a read history to people: its operations in words, with their lines, and which of
 * them to draw.
 */
import type { Json } from '../core/kernel/json.ts';
import type { HistoryPart } from '../linearizability/check-history.ts';
import type { CallData, History, Model } from '../linearizability/model.ts';
import type { ReportedEffect, ReportedMark, ReportedOperation } from '../report/history-report.ts';
import { countOf } from '../text/prose.ts';
import type { ReadHistory } from './check-read.ts';

/** The operation whose return no order satisfies, together with those before. */
export interface BadReturn {
  readonly at: number;
  /** How many returns come before. */
  readonly satisfied: number;
  /** Whether those before may already fit into no order. */
  readonly isPerhapsLate: boolean;
}

/** A picture of more is not read. */
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

  /** An operation, by its index in the part. */
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
      text: operation === undefined ? '' : this.describe(operation.call),
      isKnown: operation?.outcome === 'ok',
      invoke: operation?.invoke ?? 0,
      return: operation?.return ?? null,
      invokeLine: this.read.invokeLines.get(source),
      returnLine: returnLine === 0 ? null : returnLine,
      role,
      effect,
    };
  }

  /** Why a part is invalid, in short. */
  unexplained({ at, satisfied, isPerhapsLate }: BadReturn): string {
    const { text, process, returnLine } = this.reported(at, 'first bad');
    if (!isPerhapsLate) return `\`${text}\` by ${process} fits into no order.`;
    const returns = countOf(satisfied + 1, 'return');
    const where = `No order satisfies the first ${returns}, up to line ${returnLine ?? 0}`;
    return `${where}; which of them is the first that fits into none was not found within the limits.`;
  }

  describe(call: CallData): string {
    return this.model.describe?.(call) ?? JSON.stringify(call);
  }

  /** The beginning of a valid part, in the order that was found. */
  drawValid(order: readonly number[]): readonly ReportedOperation[] {
    const happened = new Lowest(MOST_DRAWN, (index) => this.invokeOf(index));
    this.history.forEach(({ outcome }, index) => {
      if (outcome !== 'fail') happened.push(index);
    });
    const first = happened.take();
    const effects = this.effectsOf(order, new Set(first));
    return first.map((index) => this.reported(index, 'other', effects.get(index) ?? null));
  }

  /** What happened around the return of one operation. */
  drawAround(at: number): readonly ReportedOperation[] {
    return this.around(at, [at]).map((index) => this.reported(index, 'other'));
  }

  /** `chosen` and, as far as there is room, what was called last before the return of `at`. */
  around(at: number, chosen: readonly number[]): readonly number[] {
    const end = this.history[at]?.return ?? Number.POSITIVE_INFINITY;
    const must = new Set(chosen);
    const room = Math.max(0, MOST_DRAWN - must.size);
    const others = new Lowest(room, (index) => -this.lastOf(index));
    this.history.forEach(({ invoke, outcome }, index) => {
      if (invoke <= end && outcome !== 'fail' && !must.has(index)) others.push(index);
    });
    return [...chosen, ...others.take()].sort(
      (left, right) => this.invokeOf(left) - this.invokeOf(right),
    );
  }

  marksAround(drawn: readonly ReportedOperation[]): readonly ReportedMark[] {
    const from = drawn[0]?.invoke ?? 0;
    const to = Math.max(...drawn.map((operation) => operation.return ?? operation.invoke));
    return this.read.marks.filter(({ position }) => position > from && position < to);
  }

  /**
   * When each of `shown` takes effect in an order: as early as it lets it. The state is told as
   * long as the model leaves no choice.
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

  stateText(state: Json | undefined): string {
    if (state === undefined) return '';
    return this.model.describeState?.(state) ?? `it is ${JSON.stringify(state)}`;
  }

  private invokeOf(index: number): number {
    return this.history[index]?.invoke ?? 0;
  }

  /** Where it ends, or else begins: what was active last is nearest. */
  private lastOf(index: number): number {
    const operation = this.history[index];
    return operation?.return ?? operation?.invoke ?? 0;
  }
}

/** The few lowest of many, without sorting them all. */
class Lowest {
  private kept: number[] = [];
  private readonly count: number;
  private readonly rank: (item: number) => number;

  constructor(count: number, rank: (item: number) => number) {
    this.count = count;
    this.rank = rank;
  }

  push(item: number): void {
    this.kept.push(item);
    if (this.kept.length > 16 * this.count + 16) this.kept = this.take();
  }

  /** In their order; of equals the first. */
  take(): number[] {
    return this.kept.sort((left, right) => this.rank(left) - this.rank(right)).slice(0, this.count);
  }
}
