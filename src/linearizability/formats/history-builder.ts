/**
 * Builds the history for the checker from recorded operations. Chooses a model if none was named,
 * and records the place of each operation in the file.
 */
import type { Json } from '../../core/kernel/json.ts';
import { suggest } from '../../text/problem.ts';
import { Integers } from '../integers.ts';
import { Interner } from '../interner.ts';
import type { CallData, Model, Operation } from '../model.ts';
import { models } from '../models.ts';
import { type Dialect, readSaid } from './dialect.ts';
import { detectModel, dialects } from './dialects.ts';
import { collectionIn } from './edn.ts';
import {
  type FilePlace,
  type Format,
  type Malformed,
  malformed,
  type RecordedOperation,
} from './record.ts';

export interface BuildOptions {
  /** Name of a model, or null to detect it from the first operations. */
  readonly model: string | null;
  /** Initial contents of the object; undefined for the model's default. */
  readonly initial: Json | undefined;
  readonly format: Format;
}

export interface BuiltHistory {
  readonly model: Model<Json, CallData>;
  /** True if the model was detected, not named by the caller. */
  readonly isDetected: boolean;
  readonly history: readonly Operation<CallData>[];
  /** By operation, the lines of its call and completion; 0 means none. @internal */
  readonly invokeLines: Integers;
  /** @internal */
  readonly returnLines: Integers;
  /** Number of reads of nil that count as unanswered (see `Format.hidesReads`). */
  readonly hiddenReads: number;
  /** Number of operations whose key is the first item of a pair (see `Format.readsPairs`). */
  readonly keyedByPair: number;
  /** Number of operations whose value was ignored as meaningless. */
  readonly ignoredValues: number;
}

/** Number of operations from which the model is chosen. */
const TELLING_OPERATIONS = 1000;
/** Maximum number of distinct calls to remember. */
const MOST_CALLS = 1 << 14;
const FIRST_LINE: FilePlace = { line: 1, column: 1 };

interface Chosen {
  readonly dialect: Dialect;
  readonly model: Model<Json, CallData>;
}

export class HistoryBuilder {
  private readonly counts = { hiddenReads: 0, keyedByPair: 0, ignoredValues: 0 };
  private readonly options: BuildOptions;
  private readonly history: Operation<CallData>[] = [];
  private readonly invokeLines: Integers = new Integers();
  private readonly returnLines: Integers = new Integers();
  private readonly calls: DistinctCalls = new DistinctCalls();
  /** Indices in `history` of reads of nil that may count as unanswered. */
  private readonly hidden: number[] = [];
  private writesNil = false;
  private chosen: Chosen | null = null;
  private waiting: RecordedOperation[] = [];

  constructor(options: BuildOptions) {
    this.options = options;
  }

  get size(): number {
    return this.history.length + this.waiting.length;
  }

  take(operation: RecordedOperation): Malformed | null {
    const unguessable = this.options.model === null ? collectionOf(operation) : null;
    if (unguessable !== null) return unguessable;
    if (this.chosen !== null) return this.add(operation, this.chosen);
    this.waiting.push(operation);
    const isEnough = this.options.model !== null || this.waiting.length === TELLING_OPERATIONS;
    return isEnough ? this.choose() : null;
  }

  finish(): BuiltHistory | Malformed {
    const problem = this.chosen === null ? this.choose() : null;
    if (problem !== null) return problem;
    const { chosen, history, invokeLines, returnLines, counts } = this;
    // If nil is ever written, nil may also be read.
    for (const index of this.writesNil ? [] : this.hidden) {
      const operation = history[index];
      if (operation === undefined) continue;
      history[index] = { ...operation, outcome: 'fail' };
      counts.hiddenReads += 1;
    }
    if (history.length === 0 || chosen === null) {
      return malformed(FIRST_LINE, 'there are no operations in this file');
    }
    const isDetected = this.options.model === null;
    return { model: chosen.model, isDetected, history, invokeLines, returnLines, ...counts };
  }

  private choose(): Malformed | null {
    const first = this.waiting[0]?.invokedAt ?? FIRST_LINE;
    if (this.waiting.length === 0 && this.options.model === null) return null;
    const name = this.options.model ?? detectModel(this.waiting);
    const dialect = name === null ? undefined : dialects.get(name);
    if (dialect === undefined) {
      const words = [...new Set(this.waiting.map(({ f }) => f))].slice(0, 5).join(', ');
      return malformed(
        first,
        `no model has all of the operations ${words}; choose one with --model`,
      );
    }
    const beginning = dialect.begin(this.options.initial);
    if (typeof beginning === 'string') return malformed(first, `--init for ${name}: ${beginning}`);
    this.chosen = { dialect, model: models[dialect.model](beginning) };
    for (const operation of this.waiting) {
      const problem = this.add(operation, this.chosen);
      if (problem !== null) return problem;
    }
    this.waiting = [];
    return null;
  }

  private add(operation: RecordedOperation, chosen: Chosen): Malformed | null {
    const { dialect } = chosen;
    const name = dialect.words.get(operation.f);
    if (name === undefined) {
      const hint = suggest(operation.f, [...dialect.words.keys()]);
      const isDetected = this.options.model === null;
      const detectedText = isDetected
        ? ', detected from the first operations (use --model for another)'
        : '';
      const message = `unknown operation "${operation.f}" of the model ${dialect.model}${detectedText}${hint}`;
      return malformed(operation.invokedAt, message);
    }
    const place = operation.returnedAt ?? operation.invokedAt;
    const exchange = readSaid(name, operation, dialect, this.options.format);
    if (typeof exchange === 'string') return malformed(place, exchange);
    const call = dialect.callOf(exchange);
    if (typeof call === 'string') return malformed(place, call);
    if (exchange.isFromPair) this.counts.keyedByPair += 1;
    if (exchange.isValueIgnored) this.counts.ignoredValues += 1;
    this.push(operation, this.calls.share(call), chosen);
    return null;
  }

  private push(operation: RecordedOperation, call: CallData, { dialect, model }: Chosen): void {
    const { process: client, invoke, outcome } = operation;
    const isNil = 'value' in call && call['value'] === null;
    const isRead = call.name === 'read';
    const mayHide = this.options.format.hidesReads && dialect.mayHideNil && model.init !== null;
    if (mayHide && isNil && isRead && outcome === 'ok') this.hidden.push(this.history.length);
    if (isNil && !isRead) this.writesNil = true;
    this.history.push({ client, call, invoke, return: operation.return, outcome });
    this.invokeLines.push(operation.invokedAt.line);
    this.returnLines.push(operation.returnedAt?.line ?? 0);
  }
}

/** Returns an error if a value is a collection. No model is guessed from collections. */
function collectionOf(operation: RecordedOperation): Malformed | null {
  const { f, asked, answered, outcome, invokedAt, returnedAt } = operation;
  const called = collectionIn(asked['value']);
  const kind = called ?? (outcome === 'ok' ? collectionIn(answered['value']) : null);
  if (kind === null) return null;
  const place = called === null ? (returnedAt ?? invokedAt) : invokedAt;
  const hint = 'choose one with --model (register compares complete values)';
  return malformed(
    place,
    `the value of this ${f} is a ${kind}, so no model can be detected; ${hint}`,
  );
}

/** Shares most equal calls in memory, because a long history has few distinct calls. */
class DistinctCalls {
  private readonly numbers: Interner = new Interner();
  private readonly calls: CallData[] = [];

  constructor() {
    this.numbers.reset();
  }

  share(call: CallData): CallData {
    if (this.calls.length >= MOST_CALLS) {
      this.numbers.reset();
      this.calls.length = 0;
    }
    const number = this.numbers.intern(call);
    if (number === this.calls.length) this.calls.push(call);
    return this.calls[number] ?? call;
  }
}
