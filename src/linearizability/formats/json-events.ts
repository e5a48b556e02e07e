/**
 * Reads events that are JSON objects: in one array, as elle-cli takes them, or one a line, which is
 * fencepost's own format:
 *
 *     {"process":"alice","type":"invoke","f":"write","value":4}
 *     {"process":"alice","type":"ok","f":"write"}
 *
 * `process` is a name or a number, `type` one of `invoke`, `ok`, `fail` (it did not happen) and
 * `info` (nobody knows), `f` what is called, which a completion may leave out. The order of the
 * lines is the order of the events; a `time` is for people. An `invoke` says what is asked, its
 * completion what is answered:
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
import { suggest } from '../../text/problem.ts';
import { LineCutter, MapCutter, placeInMap } from './cutters.ts';
import { eventOf, NEMESIS, nameOf, Pairing } from './events.ts';
import { readJsonFields } from './json-fields.ts';
import {
  type Fields,
  type HistoryReader,
  type Malformed,
  malformed,
  type Place,
  type TakeOperation,
} from './record.ts';

/** `[{"type":"invoke","f":"write","value":4,"process":3}, …]`. */
export function readJsonEvents(take: TakeOperation): HistoryReader {
  const pairing = new Pairing(take);
  const cutter = new MapCutter('json', (map) =>
    pushEvent(pairing, {
      ...map,
      placeAt: (offset) => placeInMap(map, offset),
      refuse: () => null,
    }),
  );
  return {
    push: (piece) => cutter.push(piece),
    end: () => cutter.end() ?? pairing.end(),
    marks: pairing.marks,
  };
}

/** `{"process":"alice","type":"invoke","f":"write","value":4}`, one a line. */
export function readJsonLines(take: TakeOperation): HistoryReader {
  const pairing = new Pairing(take);
  const cutter = new LineCutter((line) => {
    const refuse = refuseUnknownField;
    const placeAt = (offset: number): Place => {
      return { line: line.line, column: line.column + offset };
    };
    return pushEvent(pairing, { ...line, placeAt, refuse });
  });
  return {
    push: (piece) => cutter.push(piece),
    end: () => cutter.end() ?? pairing.end(),
    marks: pairing.marks,
  };
}

interface Source extends Place {
  readonly text: string;
  readonly placeAt: (offset: number) => Place;
  /** What is wrong with its fields. */
  readonly refuse: (fields: Fields) => string | null;
}

const FIELDS: readonly string[] = [
  ...['process', 'type', 'f', 'value', 'key', 'lock', 'lease', 'semaphore', 'resource', 'owner'],
  ...['token', 'fence', 'version', 'permits', 'answer', 'ok', 'expected', 'new', 'from', 'to'],
  // For people.
  ...['time', 'index', 'error', 'note'],
];

/** In our own format a field that nobody reads is a mistake; of a fault anything may be told. */
function refuseUnknownField(fields: Fields): string | null {
  if (nameOf(fields['process']) === NEMESIS) return null;
  const unknown = Object.keys(fields).find((name) => !FIELDS.includes(name));
  if (unknown === undefined) return null;
  return `unknown field "${unknown}"${suggest(unknown, FIELDS)}`;
}

function pushEvent(pairing: Pairing, source: Source): Malformed | null {
  const read = readJsonFields(source.text);
  if (read.kind === 'malformed') return malformed(source.placeAt(read.offset), read.what);
  const wrong = source.refuse(read.fields);
  if (wrong !== null) return malformed(source, wrong);
  const event = eventOf(read.fields, source);
  return event.kind === 'event' ? pairing.push(event.event) : event.problem;
}
