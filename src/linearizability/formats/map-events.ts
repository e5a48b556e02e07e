/**
 * Reads events that are maps. EDN maps (Jepsen, Knossos, Maelstrom) follow each other or are in one
 * vector or list. Porcupine's maps also have a `:key`. JSON objects are in one array, as elle-cli
 * expects, or one per line.
 */
import { suggest } from '../../text/problem.ts';
import { LineCutter, splitFields } from './cutters.ts';
import { ANY_KEY } from './dialect.ts';
import { plainName, readEvents } from './events.ts';
import { readJsonFields } from './json-fields.ts';
import { beginsWithOperation } from './operations.ts';
import { type Fields, type Format, malformed, NEMESIS } from './record.ts';

/** Events such as `{:process 3, :type :invoke, :f :write, :value 4}`. */
export const edn: Format = {
  name: 'edn',
  about: 'events of Jepsen, Knossos or Maelstrom: one map each, or a vector',
  begins: (head) =>
    /^[(#]/.test(head.text) ||
    head.record.startsWith('#') ||
    (isEdnMap(head.record) && !porcupine.begins(head)),
  open: (take, order) => readEvents(take, order, (takeFields) => splitFields('edn', takeFields)),
  hidesReads: true,
  readsPairs: true,
};

/** Events such as `{:process 3, :type :invoke, :f :put, :key "x", :value "4"}`. */
export const porcupine: Format = {
  name: 'porcupine',
  about: '{:process 3, :type :invoke, :f :put, :key "x", :value "4"}',
  // Requires a separate `:key`. In other tools' records, the key is inside the value, or a token
  // precedes it.
  begins: ({ record, isList }) =>
    !isList && isEdnMap(record) && /^\{(?![^{}\n]*:token[\s,])[^{}\n]*:key[\s,]/.test(record),
  open: (take, order) =>
    readEvents(take, order, (takeFields) => {
      return splitFields('edn', (fields, place) => {
        // A completion may omit the key.
        const isCall = plainName(fields['type']) === 'invoke';
        const isNamed = ANY_KEY.some((name) => fields[name] !== undefined);
        return isNamed || !isCall || plainName(fields['process']) === NEMESIS
          ? takeFields(fields, place)
          : malformed(place, 'expected a :key, which every call in this format must have');
      });
    }),
  hidesReads: false,
  readsPairs: true,
};

function isEdnMap(record: string): boolean {
  return /^\{[\s,]*:/.test(record);
}

/** Events such as `[{"type":"invoke","f":"write","value":4,"process":3}, …]`. */
export const json: Format = {
  name: 'json',
  about: '[{"process":3,"type":"invoke","f":"write","value":4}, …], as for elle-cli',
  begins: ({ record, isList }) => isList && /^(\{\s*"|\]|$)/.test(record),
  open: (take, order) => readEvents(take, order, (takeFields) => splitFields('json', takeFields)),
  hidesReads: true,
  readsPairs: true,
};

/**
 * fencepost's own format, one object per line:
 *
 *     {"process":"alice","type":"invoke","f":"write","value":4}
 *     {"process":"alice","type":"ok","f":"write"}
 *
 * `process` is a name or a number. `type` is one of `invoke`, `ok`, `fail` (it did not happen) and
 * `info` (the outcome is unknown). `f` is the operation, which a completion may omit. Events are in
 * the order of the lines, unless the reader is asked to order them by `time`. An `invoke` contains
 * the request, and its completion contains the answer:
 *
 * - `value`: the value to write, put or add; the value that was read. For a cas: `[expected, new]`.
 * - `key`, `lock`, `resource`: the independent object; if omitted, there is only one.
 * - `token`: for a fenced mutex, in the `ok` of an acquire; for a fenced register, in each
 *   `invoke`.
 * - `owner`: the client that acquires or releases, if it is not the process.
 * - `answer`: an answer other than the usual one: `denied`, `refused`, `missed`.
 * - `version`: for a versioned register, in the `ok`.
 * - `expected`: for a versioned register, in the `invoke` of a write: the only version that the
 *   write may replace. If the write was refused, the `ok` contains the version that it found.
 * - `permits`: for a semaphore, by default 1.
 *
 * The process `nemesis` is not a client: its events are the faults that the recorder injected,
 * which are shown but not judged.
 */
export const jsonl: Format = {
  name: 'jsonl',
  about: 'fencepost’s own format: one event per line, in order:',
  begins: (head) =>
    !head.isList && /^\{\s*"/.test(head.record) && !beginsWithOperation(head.record),
  open: (take, order) =>
    readEvents(take, order, (takeFields) => {
      return new LineCutter((line) => {
        const read = readJsonFields(line.text);
        if (read.kind === 'malformed') {
          return malformed({ line: line.line, column: line.column + read.offset }, read.what);
        }
        const wrong = whatIsUnknown(read.fields);
        return wrong === null ? takeFields(read.fields, line) : malformed(line, wrong);
      });
    }),
  hidesReads: false,
  // A key has its own field.
  readsPairs: false,
};

const FIELDS: readonly string[] = [
  ...`process type f value key lock lease semaphore resource owner token fence version
  permits answer ok expected new from to`.split(/\s+/),
  // For people; not checked.
  'time',
  'index',
  'error',
  'note',
];

/** Returns an error for a field unknown to this format. Faults may have any field. */
function whatIsUnknown(fields: Fields): string | null {
  if (plainName(fields['process']) === NEMESIS) return null;
  const unknown = Object.keys(fields).find((name) => !FIELDS.includes(name));
  if (unknown === undefined) return null;
  return `unknown field "${unknown}"${suggest(unknown, FIELDS)}`;
}
