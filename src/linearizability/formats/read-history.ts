/** Reads the text of a recorded history, of any of the formats, for whoever has it in one piece. */
import type { Json } from '../../core/kernel/json.ts';
import { suggest } from '../../text/problem.ts';
import type { Model } from '../model.ts';
import type { CallData, History } from '../operation.ts';
import { dialects } from './dialects.ts';
import { formatOf, formats } from './formats.ts';
import { HistoryBuilder } from './history-builder.ts';
import { type Malformed, malformed } from './record.ts';

export interface ReadHistoryOptions {
  /** As `fencepost check --format` takes it, e.g. `jsonl`. Absent: as the text begins. */
  readonly format?: string;
  /** A name of `models`. Absent: as the first thousand operations tell. */
  readonly model?: string;
  /** What the object holds at first. Absent: as the model says. */
  readonly initial?: Json;
}

/** What was read, or the first thing that is wrong in the text, and where. */
export type HistoryRead =
  | {
      readonly kind: 'history';
      readonly format: string;
      readonly model: Model<Json, CallData>;
      readonly history: History<CallData>;
      /** By operation: the lines of its call and of its completion, from 1; 0 where it has none. */
      readonly invokeLines: readonly number[];
      readonly returnLines: readonly number[];
      /** How many reads of nil say nothing, as in Knossos; they are in the history as failed. */
      readonly hiddenReads: number;
      /** How many operations were taken to be of the key in a value `[key, value]`. */
      readonly keyedByPair: number;
      /** How many operations have a value that says nothing of them. */
      readonly ignoredValues: number;
      /** Whether the last line has no end, so that it may be cut short. */
      readonly mayBeCut: boolean;
    }
  | ({ readonly kind: 'malformed' } & Malformed);

/** Throws a `RangeError` for a format or a model that it does not know. */
export function readHistory(text: string, options: ReadHistoryOptions = {}): HistoryRead {
  const names = formats.map(({ name }) => name);
  refuseUnknown('format', options.format, names);
  refuseUnknown('model', options.model, [...dialects.keys()]);
  const format = formats.find(({ name }) => name === options.format) ?? formatOf(text);
  if (format === null) {
    return problem(malformed(start, `this begins like no history: ${names.join(', ')}`));
  }
  const builder = new HistoryBuilder({
    model: options.model ?? null,
    initial: options.initial,
    hidesReads: format.hidesReads,
    readsPairs: format.readsPairs,
  });
  const reader = format.open((operation) => builder.take(operation));
  const wrong = reader.push(text) ?? reader.end();
  const built = wrong ?? builder.finish();
  if ('what' in built) return problem(built);
  return {
    kind: 'history',
    format: format.name,
    model: built.model,
    history: built.history,
    invokeLines: built.invokeLines.toArray(),
    returnLines: built.returnLines.toArray(),
    hiddenReads: built.hiddenReads,
    keyedByPair: built.keyedByPair,
    ignoredValues: built.ignoredValues,
    mayBeCut: reader.mayBeCut?.() ?? false,
  };
}

const start = { line: 1, column: 1 };

function problem({ line, column, what }: Malformed): HistoryRead {
  return { kind: 'malformed', line, column, what };
}

function refuseUnknown(what: string, name: string | undefined, known: readonly string[]): void {
  if (name === undefined || known.includes(name)) return;
  throw new RangeError(`unknown ${what} "${name}"${suggest(name, known)}`);
}
