/**
 * A dialect defines how logs describe one model: the words for its operations, and the fields of a
 * record that contain the data of the model's calls. This file also contains the rules that all
 * dialects share: the object of an operation (`readSaid`), and negative answers within an `ok`
 * (`saysNo`). An unknown word is an error, because a negative answer that is read as positive
 * causes a wrong verdict.
 */
import type { Json } from '../../core/kernel/json.ts';
import { suggest } from '../../text/problem.ts';
import type { Beginning, ModelName } from '../models.ts';
import { ednText, isArray } from './edn.ts';
import type { Fields, Format, RecordedOperation } from './record.ts';

/** A call like `CallData` in `model.ts`. */
export type NamedFields = { readonly [field: string]: Json; readonly name: string };

export interface Dialect {
  readonly model: ModelName;
  /** Maps each word of a log to the name of the model's call. */
  readonly words: ReadonlyMap<string, string>;
  /** The fields that may name the independent object. The first field present counts. */
  readonly keys: readonly string[];
  /** Answers by the name of the model's call. A call without an entry has only positive answers. */
  readonly answers?: ReadonlyMap<string, Answers>;
  /** True if a call's value names the object, provided that the value is a text. */
  readonly isNamedByValue?: boolean;
  /** True if a read of nil may mean that the answer is unknown (see `Format.hidesReads`). */
  readonly mayHideNil?: boolean;
  /** Returns the model's beginning for `initial` contents, or the reason why there is none. */
  readonly begin: (initial: Json | undefined) => Beginning | string;
  /** Returns the call with the answer in the record, or a text that describes what is missing. */
  readonly callOf: (exchange: Said) => NamedFields | string;
}

/** The fields that may name an object of any kind. */
export const ANY_KEY: readonly string[] = ['key', 'lock', 'lease', 'semaphore', 'resource'];

/**
 * Returns a value that models compare by identity. Numbers and nil stay. Any other value becomes
 * its EDN text, with quotes around a string, so that it differs from a model's word such as
 * `unknown`.
 */
export function scalarOf(value: Json): number | string | null {
  return value === null || typeof value === 'number' ? value : ednText(value);
}

/** Returns `unknown` for an operation without a known outcome, otherwise `known`. */
export function knownAnswer({ operation }: Said, known: string): string {
  return operation.outcome === 'info' ? 'unknown' : known;
}

/** Maps each word to its meaning, for `words` of a dialect. */
export function words(
  table: Readonly<Record<string, readonly string[]>>,
): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(table).flatMap(([name, others]) =>
      [name, ...others].map((word) => [word, name] as const),
    ),
  );
}

/** The request and answer of one operation, and the independent object that they are about. */
export interface Said {
  /** The name of the model's call. */
  readonly name: string;
  readonly operation: RecordedOperation;
  /** The object's name, or '' if there is only one object. */
  readonly key: string;
  /** The values of call and completion, without the key; undefined if there is none. */
  readonly asked: Json | undefined;
  readonly answered: Json | undefined;
  /** True if an `ok` has a negative answer. */
  readonly isNo: boolean;
  /** True if the key is the first item of a pair. The item may not be meant as a key. */
  readonly isFromPair: boolean;
  /** True if a value was given that has no meaning for this call. */
  readonly isValueIgnored: boolean;
}

type Named = Omit<Said, 'name' | 'operation' | 'isNo'>;

const ONLY_YES: Answers = { yes: [], no: [] };

/** Reads an operation. Returns a text for an error. `name` is the name of the model's call. */
export function readSaid(
  name: string,
  operation: RecordedOperation,
  dialect: Dialect,
  { readsPairs }: Pick<Format, 'readsPairs'>,
): Said | string {
  const named = readNamed(name, operation, dialect, readsPairs);
  if (typeof named === 'string') return named;
  const isNo = saysNo(operation, named, dialect.answers?.get(name) ?? ONLY_YES);
  return typeof isNo === 'string' ? isNo : { name, operation, isNo, ...named };
}

function readNamed(
  name: string,
  operation: RecordedOperation,
  dialect: Dialect,
  readsPairs: boolean,
): Named | string {
  const [asked, answered] = [operation.asked['value'], operation.answered['value']];
  const plain = { asked, answered, isFromPair: false, isValueIgnored: false };
  const key = namedKey(operation, dialect.keys);
  if (key !== null) return typeof key === 'string' ? { key, ...plain } : key.differs;
  if (readsPairs && isArray(asked) && asked.length === 2 && mayBeKeyed(name, asked)) {
    const [first = null, value] = asked;
    const pair = { ...plain, key: keyText(first), asked: value, isFromPair: true };
    const isRepeated = value !== undefined && ednText(value) === ednText(answered ?? null);
    if (!isArray(answered) || answered.length !== 2 || isRepeated) return pair;
    const [other = null, answer] = answered;
    if (operation.outcome === 'ok' && keyText(other) !== pair.key) return differs(pair.key, other);
    return { ...pair, answered: answer };
  }
  if (dialect.isNamedByValue !== true || asked === undefined || asked === null) {
    return { key: '', ...plain };
  }
  return typeof asked === 'string'
    ? { ...plain, key: asked }
    : { ...plain, key: '', isValueIgnored: true };
}

/**
 * Returns the key of an operation, or null if there is none. Returns an error if the completion
 * names a different key than the call. The completion may omit the key.
 */
function namedKey(
  { asked, answered }: RecordedOperation,
  names: readonly string[],
): string | { readonly differs: string } | null {
  const isIn = (fields: Fields) => (name: string) => (fields[name] ?? null) !== null;
  const name = names.find(isIn(asked)) ?? names.find(isIn(answered)) ?? '';
  const called = asked[name] ?? answered[name] ?? null;
  const other = answered[name] ?? called;
  if (called === null || other === null) return null;
  const key = keyText(called);
  return keyText(other) === key ? key : { differs: differs(key, other) };
}

function differs(called: string, answered: Json): string {
  return `the completion names the key ${keyText(answered)}, but its call ${called}`;
}

/** Returns true if a pair may be `[key value]`. For a cas, it may also be `[expected new]`. */
function mayBeKeyed(name: string, [, second]: readonly Json[]): boolean {
  return name !== 'cas' || (isArray(second) && second.length === 2);
}

/** Returns the name of an object as text. */
export function keyText(key: Json): string {
  return typeof key === 'string' ? key : ednText(key);
}

/** The words that may answer a call. */
export interface Answers {
  readonly yes: readonly string[];
  readonly no: readonly string[];
  /** True if the completion's value may be the answer: true, false or one of these words. */
  readonly mayBeValue?: boolean;
}

/** Positive answers of every call. */
const ALWAYS_YES = ['ok', 'done', 'success'];

/**
 * Returns true if an `ok` has a negative answer, otherwise false. Returns a text that describes the
 * error if the answer is unknown.
 */
function saysNo(
  { answered, outcome }: RecordedOperation,
  named: Named,
  answers: Answers,
): boolean | string {
  if (outcome !== 'ok') return false;
  const readings: (boolean | string)[] = [];
  const answer = answered['answer'] ?? null;
  if (answer !== null) readings.push(read(answer, 'answer', answers));
  const isOk = answered['ok'] ?? null;
  if (isOk !== null) readings.push(read(isOk, 'ok', answers));
  const value = named.answered ?? null;
  const isValue = answers.mayBeValue === true && ednText(named.asked ?? null) !== ednText(value);
  if (isValue) {
    const words = [...answers.yes, ...answers.no, ...ALWAYS_YES];
    const isAnswer =
      typeof value === 'string' ? words.includes(wordOf(value)) : typeof value === 'boolean';
    if (isAnswer) readings.push(read(value, 'value', answers));
  }
  return readings.find((reading) => typeof reading === 'string') ?? readings.includes(true);
}

function read(value: Json, field: string, answers: Answers): boolean | string {
  const known = [...answers.yes, ...answers.no];
  if (value === true) return false;
  if (value === false && answers.no.length > 0) return true;
  const word = typeof value === 'string' ? wordOf(value) : ednText(value);
  if (typeof value === 'string' && answers.no.includes(word)) return true;
  if (typeof value === 'string' && [...answers.yes, ...ALWAYS_YES].includes(word)) return false;
  return `unknown ${field} "${word}"${suggest(word, known)}`;
}

function wordOf(text: string): string {
  return text.replace(/^:/, '');
}
