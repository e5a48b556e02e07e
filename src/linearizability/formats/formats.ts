/**
 * Reads histories recorded by any tool. Each format is listed in `formats`. Each dialect, in
 * `dialects.ts`, defines how logs in any format describe one model. Read on in this order:
 *
 * 1. `record.ts`: the data that every format is read into. `cutters.ts`: cuts a file into records.
 * 2. `events.ts`: pairs events into operations, in the order of `event-order.ts`; `jepsen-log.ts`
 *    and `map-events.ts`: formats of events, whose text is read by `edn.ts` and `json-fields.ts`.
 * 3. `operations.ts`: records that are complete operations.
 * 4. `dialect.ts`: the meaning of a record to a model. `dialects.ts`: the dialect of each model.
 * 5. `history-builder.ts`: builds the history for the model that was named or that the log
 *    suggests.
 */
import type { Json } from '../../core/kernel/json.ts';
import { suggest } from '../../text/problem.ts';
import type { History, Model } from '../model.ts';
import { dialects } from './dialects.ts';
import { type BuildOptions, HistoryBuilder } from './history-builder.ts';
import { jepsenLog, jepsenText } from './jepsen-log.ts';
import { edn, json, jsonl, porcupine } from './map-events.ts';
import { operations } from './operations.ts';
import {
  EVENT_ORDERS,
  type EventOrder,
  type Format,
  type HistoryReader,
  type TimeDisorder,
} from './record.ts';

/** The formats, in the order in which the help lists them. */
export const formats: readonly Format[] = [
  jepsenLog,
  jepsenText,
  porcupine,
  edn,
  json,
  operations,
  jsonl,
];

/** Number of characters from which the format of a file is recognized. */
export const TELLING_CHARACTERS = 16_384;

/** Returns the format of a file that begins with `head`, or null. `head` may end anywhere. */
export function formatOf(head: string): Format | null {
  const text = withoutComments(head.slice(0, TELLING_CHARACTERS));
  const isList = text.startsWith('[');
  const record = isList ? withoutComments(text.slice(1)) : text;
  return formats.findLast(({ begins }) => begins({ text, isList, record })) ?? null;
}

/** Removes leading space and EDN comments. */
function withoutComments(text: string): string {
  return text.replace(/^(?:[\s,]|;[^\n]*(?:\n|$))+/, '');
}

/** A history that is being read. The reader passes operations to the builder. */
export interface OpenHistory {
  readonly reader: HistoryReader;
  readonly builder: HistoryBuilder;
}

export function openHistory(options: BuildOptions & { readonly order?: EventOrder }): OpenHistory {
  const builder = new HistoryBuilder(options);
  const reader = options.format.open((operation) => builder.take(operation), options.order);
  return { builder, reader };
}

/** Settings that the text does not contain, or that override detection. */
export interface ReadHistoryOptions {
  /** A format of `fencepost check --format`, such as `jsonl`. By default, it is detected. */
  readonly format?: string;
  /** A name in `models`. By default, the model that the first thousand operations suggest. */
  readonly model?: string;
  /** Initial contents of the object. By default, the contents that the model defines. */
  readonly initial?: Json;
  /** With `time`, events are ordered by time, not as in the file; events at equal times overlap. */
  readonly order?: 'file' | 'time';
}

/** The history, or the first error in the text and its place. */
export type HistoryRead =
  | {
      readonly kind: 'history';
      readonly format: string;
      /** The named or detected model. */
      readonly model: Model;
      readonly history: History;
      /** By operation, the lines of its call and its completion, from 1. 0 means no completion. */
      readonly invokeLines: readonly number[];
      readonly returnLines: readonly number[];
      /** Number of reads of nil that count as unanswered, as in Knossos. */
      readonly hiddenReads: number;
      /** Number of operations whose key is the first item of a pair, as in Jepsen. */
      readonly keyedByPair: number;
      /** Number of operations whose value was ignored as meaningless. */
      readonly ignoredValues: number;
      /** True if the last line has no line ending, so it may be truncated. */
      readonly mayBeTruncated: boolean;
      /** The times that contradict the file order, or null. The file order takes precedence. */
      readonly disorder: TimeDisorder | null;
    }
  | {
      readonly kind: 'malformed';
      /** Lines and columns start at 1; columns count UTF-16 units. */
      readonly line: number;
      readonly column: number;
      readonly what: string;
    };

/**
 * Reads the text of a recorded history, in any of the formats of `fencepost check`. Throws a
 * `RangeError` for an unknown format, model or order.
 *
 * @example
 * const read = readHistory(`
 *   {"process": "alice", "type": "invoke", "f": "write", "value": 4}
 *   {"process": "alice", "type": "ok", "f": "write"}
 *   {"process": "bob", "type": "invoke", "f": "read"}
 *   {"process": "bob", "type": "ok", "f": "read", "value": 5}
 * `);
 * if (read.kind === 'malformed') throw new Error(`${read.line}:${read.column}: ${read.what}`);
 * console.log(read.model.name, read.history.length); // register 2
 */
export function readHistory(text: string, options: ReadHistoryOptions = {}): HistoryRead {
  const names = formats.map(({ name }) => name);
  refuseUnknown('format', options.format, names);
  refuseUnknown('model', options.model, [...dialects.keys()]);
  refuseUnknown('order', options.order, EVENT_ORDERS);
  const format = formats.find(({ name }) => name === options.format) ?? formatOf(text);
  if (format === null) {
    const message = `unknown history format; known formats: ${names.join(', ')}`;
    return { kind: 'malformed', line: 1, column: 1, what: message };
  }
  const { model = null, initial, order = 'file' } = options;
  const { builder, reader } = openHistory({ format, model, initial, order });
  const wrong = reader.push(text) ?? reader.end();
  const built = wrong ?? builder.finish();
  if ('what' in built) return { kind: 'malformed', ...built };
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
    mayBeTruncated: reader.mayBeTruncated?.() ?? false,
    disorder: reader.disorder?.() ?? null,
  };
}

function refuseUnknown(noun: string, name: string | undefined, known: readonly string[]): void {
  if (name === undefined || known.includes(name)) return;
  throw new RangeError(`unknown ${noun} "${name}"${suggest(name, known)}`);
}
