/** The formats by name, and how a file's beginning tells which one it is in. */
import { readEdnEvents, readPorcupineEvents } from './edn-events.ts';
import { isJepsenLine, readJepsenLog } from './jepsen-log.ts';
import { readJsonEvents, readJsonLines } from './json-events.ts';
import { readJsonFields } from './json-fields.ts';
import { isOperation, readOperations } from './operations.ts';
import type { Fields, HistoryReader, TakeOperation } from './record.ts';

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
