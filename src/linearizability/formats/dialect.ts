/**
 * A dialect is how logs speak of one model: what they call its operations, and where in the fields
 * of a record stands what the model's calls hold. Here is also what all dialects share: which
 * object an operation is about (`readSaid`), and whether an `ok` says no (`saysNo`). A word that
 * nobody knows is a mistake, since a no that is taken for a yes makes a wrong verdict.
 */
import type { Json } from '../../core/kernel/json.ts';
import { suggest } from '../../text/problem.ts';
import type { Beginning, ModelName } from '../models.ts';
import { ednText, isArray } from './edn.ts';
import type { Fields, Format, RecordedOperation } from './record.ts';

/** A call as `CallData` in `model.ts`. */
export type NamedFields = { readonly [field: string]: Json; readonly name: string };

export interface Dialect {
  /** The model's name. */
  readonly model: ModelName;
  /** By what a log may say: the name of the model's call. */
  readonly words: ReadonlyMap<string, string>;
  /** The fields that may name the independent object, the first that is there. */
  readonly keys: readonly string[];
  /** By the name of the model's call; without an entry it answers nothing but yes. */
  readonly answers?: ReadonlyMap<string, Answers>;
  /** Whether a text as the value of a call names the object. */
  readonly isNamedByValue?: boolean;
  /** Whether a read of nil may say nothing, see `Format.hidesReads`. */
  readonly mayHideNil?: boolean;
  /** How the model begins when its object holds `initial`; text says why it cannot. */
  readonly begin: (initial: Json | undefined) => Beginning | string;
  /** The call, with the answer that the record holds; text says what it lacks. */
  readonly callOf: (said: Said) => NamedFields | string;
}

/** Whatever the objects are: each may be named by any of these. */
export const ANY_KEY: readonly string[] = ['key', 'lock', 'lease', 'semaphore', 'resource'];

/**
 * A value that models compare by identity. Numbers and nil stay; anything else becomes its text, in
 * quotes when it is a string, so that none can be mistaken for a word of a model, like `unknown`.
 */
export function scalarOf(value: Json): number | string | null {
  return value === null || typeof value === 'number' ? value : ednText(value);
}

/** `unknown` for an operation that nobody heard of, else what `known` says. */
export function knownAnswer({ operation }: Said, known: string): string {
  return operation.outcome === 'info' ? 'unknown' : known;
}

/** Each word and what it means, as `words` of a dialect. */
export function words(
  table: Readonly<Record<string, readonly string[]>>,
): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(table).flatMap(([name, others]) =>
      [name, ...others].map((word) => [word, name] as const),
    ),
  );
}

/** What is asked and answered about one of several independent objects. */
export interface Said {
  /** That of the model's call. */
  readonly name: string;
  readonly operation: RecordedOperation;
  /** The object's name, '' when there is one only. */
  readonly key: string;
  /** The values of call and completion, without the key; undefined: none is given. */
  readonly asked: Json | undefined;
  readonly answered: Json | undefined;
  /** Whether an `ok` answered no. */
  readonly isNo: boolean;
  /** Whether the key is the first of a value of two, which it may not have been meant as. */
  readonly isFromPair: boolean;
  /** Whether a value was given that says nothing of such a call. */
  readonly isValueIgnored: boolean;
}

/** What is said of an object, and which. */
type Named = Omit<Said, 'name' | 'operation' | 'isNo'>;

const ONLY_YES: Answers = { yes: [], no: [] };

/** Text says what is wrong. `name` is that of the model's call. */
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

/** A completion may leave out the key; null when the call does too. */
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

/** A cas of one object is a pair itself: `[expected new]`. */
function mayBeKeyed(name: string, [, second]: readonly Json[]): boolean {
  return name !== 'cas' || (isArray(second) && second.length === 2);
}

/** The name of an object, whatever names it. */
export function keyText(key: Json): string {
  return typeof key === 'string' ? key : ednText(key);
}

/** The words that one call may answer. */
export interface Answers {
  readonly yes: readonly string[];
  readonly no: readonly string[];
  /** Whether the completion's value says it too, where it is true, false or such a word. */
  readonly mayBeValue?: boolean;
}

/** Whatever was called. */
const ALWAYS_YES = ['ok', 'done', 'success'];

/** Whether an `ok` says no; text says what nobody understands. Of other completions: false. */
function saysNo(
  { answered, outcome }: RecordedOperation,
  named: Named,
  answers: Answers,
): boolean | string {
  if (outcome !== 'ok') return false;
  const said: (boolean | string)[] = [];
  const answer = answered['answer'] ?? null;
  if (answer !== null) said.push(read(answer, 'answer', answers));
  const isOk = answered['ok'] ?? null;
  if (isOk !== null) said.push(read(isOk, 'ok', answers));
  const value = named.answered ?? null;
  const isTold = answers.mayBeValue === true && ednText(named.asked ?? null) !== ednText(value);
  if (isTold) {
    const words = [...answers.yes, ...answers.no, ...ALWAYS_YES];
    const isAnswer =
      typeof value === 'string' ? words.includes(wordOf(value)) : typeof value === 'boolean';
    if (isAnswer) said.push(read(value, 'value', answers));
  }
  return said.find((one) => typeof one === 'string') ?? said.includes(true);
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
