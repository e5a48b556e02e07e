/**
 * Reads complete operations as JSON objects, in one array or one per line, with the field names of
 * Porcupine's `Operation`, in upper or lower case:
 *
 *     {"ClientId":0,"Input":{"op":"put","key":"x","value":"4"},"Call":10,"Output":null,"Return":30}
 *
 * `Call` and `Return` are times, in any unit. The outcome is unknown if there is no `Return`, or if
 * `Return` is the largest 64-bit number, which some programs write for pending operations. `Input`
 * is an object with the operation's name as `op` or `f`, or an array: `["put", "x", "4"]`,
 * `["get", "x"]`, `["write", 4]`. `Output` is the answer, or an object: `{"value": 4}`,
 * `{"ok": false}`, `{"unknown": true}`.
 */
import type { Json } from '../../core/kernel/json.ts';
import { splitFields } from './cutters.ts';
import { isArray } from './edn.ts';
import { plainName } from './events.ts';
import { isFields, readJsonFields } from './json-fields.ts';
import {
  type Fields,
  type FilePlace,
  type Format,
  malformed,
  type RecordedOperation,
} from './record.ts';
import { exactTime, NEVER, Times } from './times.ts';

/** Unlike events, operations of one client may overlap: a client may represent several threads. */
export const operations: Format = {
  name: 'operations',
  about: '{"ClientId":3,"Input":{"op":"get","key":"x"},"Call":1,"Return":9}',
  begins: ({ record }) => /^\{\s*"/.test(record) && beginsWithOperation(record),
  open(take) {
    const times = new Times();
    const cutter = splitFields('json', (fields, place) => {
      const built = operationOf(lowered(fields), times, place);
      return typeof built === 'string' ? malformed(place, built) : take(built);
    });
    return { push: (piece) => cutter.push(piece), end: () => cutter.end(), marks: [] };
  },
  hidesReads: false,
  readsPairs: true,
};

/** Returns true if the first record of a file contains an operation. */
export function beginsWithOperation(record: string): boolean {
  const names = lowered(firstObject(record));
  return names['input'] !== undefined && names['call'] !== undefined;
}

/** Returns the first object of a text, or an empty object if its end is missing. */
function firstObject(text: string): Fields {
  for (let end = text.indexOf('}'); end >= 0; end = text.indexOf('}', end + 1)) {
    const read = readJsonFields(text.slice(0, end + 1));
    if (read.kind === 'fields') return read.fields;
  }
  return {};
}

const TIME = 'within 2^53 of the first time';

function operationOf(
  fields: Fields,
  times: Times,
  { line, column }: FilePlace,
): RecordedOperation | string {
  const invoke = times.of(fields['call']);
  if (invoke === null) return `expected Call, the time of the call, ${TIME}`;
  const returnTime = exactTime(fields['return']);
  const isNever = returnTime !== null && returnTime >= NEVER;
  const hasReturn = (fields['return'] ?? null) !== null && !isNever;
  const returned = hasReturn ? times.of(fields['return']) : null;
  if (hasReturn && returned === null) return `expected Return, the time of the return, ${TIME}`;
  if (returned !== null && returned < invoke) return 'it returns before it is called';
  const asked = askedOf(fields['input']);
  if (asked === null) {
    return 'expected Input, {"op": "put", "key": "x", "value": "4"} or ["put", "x", "4"]';
  }
  const answered = answeredOf(fields['output']);
  const isUnknown = returned === null || answered['unknown'] === true;
  const known = answered['ok'] === false ? 'fail' : 'ok';
  const outcome = isUnknown ? 'info' : known;
  return {
    process: plainName(fields['clientid'] ?? fields['client']) ?? '0',
    f: asked.f,
    asked: asked.fields,
    answered,
    outcome,
    invoke,
    return: outcome === 'info' ? null : returned,
    invokedAt: { line, column },
    returnedAt: returned === null ? null : { line, column },
  };
}

/** Operations whose only argument in an array is the key. */
const TAKES_KEY: ReadonlySet<string> = new Set([
  'get',
  'read',
  'delete',
  'remove',
  'acquire',
  'lock',
  'release',
  'unlock',
  'renew',
]);

function askedOf(input: Json | undefined): { f: string; fields: Fields } | null {
  if (isArray(input)) {
    const [name, ...rest] = input;
    const f = plainName(name);
    if (f === null) return null;
    const [first = null, second] = rest;
    if (rest.length === 0) return { f, fields: {} };
    if (second === undefined)
      return { f, fields: TAKES_KEY.has(f) ? { key: first } : { value: first } };
    return { f, fields: { key: first, value: rest.length === 2 ? second : rest.slice(1) } };
  }
  if (!isFields(input)) return null;
  const fields = lowered(input);
  const f = plainName(fields['op'] ?? fields['f']);
  return f === null ? null : { f, fields };
}

function answeredOf(output: Json | undefined): Fields {
  if (isFields(output)) return lowered(output);
  return output === undefined ? {} : { value: output };
}

/** Normalizes field names: Go programs capitalize them, and other programs do not. */
function lowered(fields: Fields): Fields {
  const entries = Object.entries(fields);
  return Object.fromEntries(
    entries.map(([name, value]) => [name.toLowerCase().replaceAll('_', ''), value]),
  );
}
