/** The formats by name, and how a file's beginning tells which one it is in. */

import type { Json } from '../../core/kernel/json.ts';
import { suggest } from '../../text/problem.ts';
import type { CallData, History, Model } from '../model.ts';
import { dialects } from './dialects.ts';
import { readEdnEvents, readPorcupineEvents } from './edn-events.ts';
import { HistoryBuilder } from './history-builder.ts';
import { isJepsenLine, readJepsenLog } from './jepsen-log.ts';
import { readJsonEvents, readJsonLines } from './json-events.ts';
import { readJsonFields } from './json-fields.ts';
import { isOperation, readOperations } from './operations.ts';
import {
  type Fields,
  type HistoryReader,
  type Malformed,
  malformed,
  type TakeOperation,
} from './record.ts';

export interface Format {
  readonly name: string;
  readonly open: (take: TakeOperation) => HistoryReader;
  /**
   * Whether a read of nil means that nobody saw what it read, as in Knossos, where an object does
   * not begin with nil.
   */
  readonly hidesReads: boolean;
  /** Whether a value of two may be `[key value]`, as Jepsen writes those of independent objects. */
  readonly readsPairs: boolean;
}

const hidden = { hidesReads: true, readsPairs: true };
const plain = { hidesReads: false, readsPairs: true };
const jepsenLog: Format = { name: 'jepsen-log', open: readJepsenLog, ...hidden };
const porcupine: Format = { name: 'porcupine', open: readPorcupineEvents, ...plain };
const edn: Format = { name: 'edn', open: readEdnEvents, ...hidden };
const json: Format = { name: 'json', open: readJsonEvents, ...hidden };
const operations: Format = { name: 'operations', open: readOperations, ...plain };
/** A key has a field of its own. */
const jsonl: Format = { name: 'jsonl', open: readJsonLines, hidesReads: false, readsPairs: false };

export const formats: readonly Format[] = [jepsenLog, porcupine, edn, json, operations, jsonl];

/** So many characters of a file are enough to tell its format. */
export const TELLING_CHARACTERS = 16_384;

/** The format that a file begins in; null when it is none of them. `head` may end anywhere. */
export function formatOf(head: string): Format | null {
  const text = withoutComments(head.slice(0, TELLING_CHARACTERS));
  const isList = text.startsWith('[');
  const record = isList ? withoutComments(text.slice(1)) : text;
  if (/^[(#]/.test(text) || record.startsWith('#')) return edn;
  if (/^\{[\s,]*:/.test(record)) return !isList && isPorcupine(record) ? porcupine : edn;
  if (/^\{\s*"/.test(record)) return jsonFormatOf(record, isList);
  if (isList && (record === '' || record.startsWith(']'))) return json;
  return text.split('\n').some((line) => isJepsenLine(line.trim())) ? jepsenLog : null;
}

/** Without space and EDN comments at its beginning. */
function withoutComments(text: string): string {
  return text.replace(/^(?:[\s,]|;[^\n]*(?:\n|$))+/, '');
}

/** Its first record has a `:key` of its own; records of others have it inside their value. */
function isPorcupine(record: string): boolean {
  return /^\{[^{}\n]*:key[\s,]/.test(record);
}

function jsonFormatOf(record: string, isList: boolean): Format {
  if (isOperation(firstObject(record))) return operations;
  return isList ? json : jsonl;
}

/** The first object of a text; empty when it is not whole. */
function firstObject(text: string): Fields {
  for (let end = text.indexOf('}'); end >= 0; end = text.indexOf('}', end + 1)) {
    const read = readJsonFields(text.slice(0, end + 1));
    if (read.kind === 'fields') return read.fields;
  }
  return {};
}

/** Reads the text of a recorded history, of any of the formats, for whoever has it in one piece. */

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

/** What each model and each format is, for people who choose one by its name. */

/** By the name of the model, the weaker first. */
export const aboutModels: ReadonlyMap<string, string> = new Map([
  ['register', 'a read returns what the last write wrote'],
  ['cas-register', 'a register that also compares and sets'],
  ['versioned-register', 'a register that counts its writes'],
  ['kv', 'a map from keys to texts: get, put, append, cas, delete'],
  ['counter', 'an increment adds, a read returns the sum'],
  ['semaphore', 'so many permits; --init says how many'],
  ['lease', 'a lock that may expire at any time, unseen'],
  ['mutex', 'granted when free, released by its owner'],
  ['anonymous-mutex', 'granted when free, released by anybody'],
  ['reentrant-mutex', 'its owner may take it again'],
  ['fenced-mutex', 'a mutex whose grants have rising tokens'],
  ['reentrant-fenced-mutex', 'the same, reentrant'],
  ['fenced-register', 'accepts a write iff its token is at least the highest'],
  ['strict-fenced-register', 'accepts a write iff its token is above the highest'],
  ['fenced-register-with-reads', 'a fenced register whose reads register their token too'],
]);

/** By the name of the format: how a record of it looks. */
export const aboutFormats: ReadonlyMap<string, string> = new Map([
  ['jepsen-log', 'INFO  jepsen.util - 3 :invoke :write 4'],
  ['porcupine', '{:process 3, :type :invoke, :f :put, :key "x", :value "4"}'],
  ['edn', 'the events of Jepsen, Knossos, Maelstrom: a map each, or one vector of them'],
  ['json', '[{"process":3,"type":"invoke","f":"write","value":4}, …], as elle-cli takes it'],
  ['operations', '{"ClientId":3,"Input":{"op":"put","key":"x","value":"4"},"Call":10,"Return":30}'],
  ['jsonl', 'fencepost’s own, a line an event, in the order in which they happened:'],
]);
