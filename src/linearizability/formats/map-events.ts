/**
 * Reads events that are maps. In EDN, as Jepsen, Knossos and Maelstrom write them, one after the
 * other or all in one vector or list; Porcupine's key-value histories are such maps too, each with
 * a `:key`. In JSON: in one array, as elle-cli takes them, or one a line.
 */
import { suggest } from '../../text/problem.ts';
import { cutFields, LineCutter } from './cutters.ts';
import { ANY_KEY } from './dialect.ts';
import { plainName, readEvents } from './events.ts';
import { readJsonFields } from './json-fields.ts';
import { beginsWithOperation } from './operations.ts';
import { type Fields, type Format, malformed, NEMESIS } from './record.ts';

/** `{:process 3, :type :invoke, :f :write, :value 4}`. */
export const edn: Format = {
  name: 'edn',
  about: 'the events of Jepsen, Knossos, Maelstrom: a map each, or one vector of them',
  begins: (head) =>
    /^[(#]/.test(head.text) ||
    head.record.startsWith('#') ||
    (isEdnMap(head.record) && !porcupine.begins(head)),
  open: (take, order) => readEvents(take, order, (takeFields) => cutFields('edn', takeFields)),
  hidesReads: true,
  readsPairs: true,
};

/** `{:process 3, :type :invoke, :f :put, :key "x", :value "4"}`. */
export const porcupine: Format = {
  name: 'porcupine',
  about: '{:process 3, :type :invoke, :f :put, :key "x", :value "4"}',
  // A `:key` of its own, in the call at least; records of others have it inside their value, or
  // beside the token of a resource that it lies in.
  begins: ({ record, isList }) =>
    !isList && isEdnMap(record) && /^\{(?![^{}\n]*:token[\s,])[^{}\n]*:key[\s,]/.test(record),
  open: (take, order) =>
    readEvents(take, order, (takeFields) => {
      return cutFields('edn', (fields, place) => {
        // A completion may leave it out.
        const isCall = plainName(fields['type']) === 'invoke';
        const isNamed = ANY_KEY.some((name) => fields[name] !== undefined);
        return isNamed || !isCall || plainName(fields['process']) === NEMESIS
          ? takeFields(fields, place)
          : malformed(place, 'expected a :key, as every call of this format has');
      });
    }),
  hidesReads: false,
  readsPairs: true,
};

function isEdnMap(record: string): boolean {
  return /^\{[\s,]*:/.test(record);
}

/** `[{"type":"invoke","f":"write","value":4,"process":3}, …]`. */
export const json: Format = {
  name: 'json',
  about: '[{"process":3,"type":"invoke","f":"write","value":4}, …], as elle-cli takes it',
  begins: ({ record, isList }) => isList && /^(\{\s*"|\]|$)/.test(record),
  open: (take, order) => readEvents(take, order, (takeFields) => cutFields('json', takeFields)),
  hidesReads: true,
  readsPairs: true,
};

/**
 * fencepost's own, an object a line:
 *
 *     {"process":"alice","type":"invoke","f":"write","value":4}
 *     {"process":"alice","type":"ok","f":"write"}
 *
 * `process` is a name or a number, `type` one of `invoke`, `ok`, `fail` (it did not happen) and
 * `info` (nobody knows), `f` what is called, which a completion may leave out. The order of the
 * lines is the order of the events, unless the reader is asked to go by their `time`. An `invoke`
 * says what is asked, its completion what is answered:
 *
 * - `value`: what is written, or put, or added; what was read. Of a cas: `[expected, new]`.
 * - `key`, `lock`, `resource`: on which of several independent objects; absent, there is one.
 * - `token`: of a fenced mutex, in the `ok` of an acquire; of a fenced register, in each `invoke`.
 * - `owner`: who acquires or releases, where that is not the process.
 * - `answer`: what was answered where that is not the obvious: `denied`, `refused`, `missed`.
 * - `version`: of a versioned register, in the `ok`; `expected`, in the `invoke` of a write: over
 *   which version only; the version in the `ok` of one that was refused is what it found.
 * - `permits`: of a semaphore, 1 when absent.
 *
 * The process `nemesis` is no client: its events are the faults that the recorder put in, which are
 * drawn and not judged.
 */
export const jsonl: Format = {
  name: 'jsonl',
  about: 'fencepost’s own, a line an event, in the order in which they happened:',
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
  // A key has a field of its own.
  readsPairs: false,
};

const FIELDS: readonly string[] = [
  ...`process type f value key lock lease semaphore resource owner token fence version
  permits answer ok expected new from to`.split(/\s+/),
  // For people.
  'time',
  'index',
  'error',
  'note',
];

/** In our own format a field that nobody reads is a mistake; of a fault anything may be told. */
function whatIsUnknown(fields: Fields): string | null {
  if (plainName(fields['process']) === NEMESIS) return null;
  const unknown = Object.keys(fields).find((name) => !FIELDS.includes(name));
  if (unknown === undefined) return null;
  return `unknown field "${unknown}"${suggest(unknown, FIELDS)}`;
}
