/**
 * Reads recorded histories, whoever recorded them. A format is one file and one line in `formats`;
 * a dialect, in `dialects.ts`, says how logs in any of them speak of one model. Read on in this
 * order:
 *
 * 1. `record.ts`: what every format is read into. `cutters.ts`: pieces of a file into records.
 * 2. `events.ts`: records that are events, paired to operations in the order of `event-order.ts`;
 *    `jepsen-log.ts` and `map-events.ts`, whose texts `edn.ts` and `json-fields.ts` read.
 * 3. `operations.ts`: records that are whole operations.
 * 4. `dialect.ts`: what a record says to a model. `dialects.ts`: the dialect of each.
 * 5. `history-builder.ts`: the history, of the model that was named or that the log tells.
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

/** By name, as people read of them. */
export const formats: readonly Format[] = [
  jepsenLog,
  jepsenText,
  porcupine,
  edn,
  json,
  operations,
  jsonl,
];

/** So many characters of a file are enough to tell its format. */
export const TELLING_CHARACTERS = 16_384;

/** The format that a file begins in; null when it is none of them. `head` may end anywhere. */
export function formatOf(head: string): Format | null {
  const text = withoutComments(head.slice(0, TELLING_CHARACTERS));
  const isList = text.startsWith('[');
  const record = isList ? withoutComments(text.slice(1)) : text;
  return formats.findLast(({ begins }) => begins({ text, isList, record })) ?? null;
}

/** Without space and EDN comments at its beginning. */
function withoutComments(text: string): string {
  return text.replace(/^(?:[\s,]|;[^\n]*(?:\n|$))+/, '');
}

/** A history that is being read: what the reader is given, the builder makes a history of. */
export interface OpenHistory {
  readonly reader: HistoryReader;
  readonly builder: HistoryBuilder;
}

export function openHistory(options: BuildOptions & { readonly order?: EventOrder }): OpenHistory {
  const builder = new HistoryBuilder(options);
  const reader = options.format.open((operation) => builder.take(operation), options.order);
  return { builder, reader };
}

/** What the text does not say, or says otherwise. */
export interface ReadHistoryOptions {
  /** As `fencepost check --format` takes it, e.g. `jsonl`. Absent: as the text begins. */
  readonly format?: string;
  /** A name of `models`. Absent: as the first thousand operations tell. */
  readonly model?: string;
  /** What the object holds at first. Absent: as the model says. */
  readonly initial?: Json;
  /** `time`: events are in the order of their times, not of the file; equal ones overlap. */
  readonly order?: 'file' | 'time';
}

/** What was read, or the first thing that is wrong in the text, and where. */
export type HistoryRead =
  | {
      readonly kind: 'history';
      readonly format: string;
      /** The model that was named, or that the operations tell. */
      readonly model: Model;
      readonly history: History;
      /** By operation: the lines of its call and of its completion, from 1; 0 where it has none. */
      readonly invokeLines: readonly number[];
      readonly returnLines: readonly number[];
      /** Reads of nil without a known answer, as in Knossos. */
      readonly hiddenReads: number;
      /** Operations whose key is the first of a value of two, as Jepsen writes it. */
      readonly keyedByPair: number;
      /** Operations with a value that says nothing of them. */
      readonly ignoredValues: number;
      /** Whether the last line has no end, so that it may be cut short. */
      readonly mayBeCut: boolean;
      /** The times that contradict the order of the file, which counts; null if there are none. */
      readonly disorder: TimeDisorder | null;
    }
  | {
      readonly kind: 'malformed';
      /** From 1, as `column` is, in UTF-16 units. */
      readonly line: number;
      readonly column: number;
      readonly what: string;
    };

/**
 * Reads the text of a recorded history, in any of the formats of `fencepost check`. Throws a
 * `RangeError` for a format, a model or an order that it does not know.
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
    const what = `this begins like no history: ${names.join(', ')}`;
    return { kind: 'malformed', line: 1, column: 1, what };
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
    mayBeCut: reader.mayBeCut?.() ?? false,
    disorder: reader.disorder?.() ?? null,
  };
}

function refuseUnknown(what: string, name: string | undefined, known: readonly string[]): void {
  if (name === undefined || known.includes(name)) return;
  throw new RangeError(`unknown ${what} "${name}"${suggest(name, known)}`);
}
