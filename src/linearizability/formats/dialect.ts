/**
 * A dialect is how logs speak of one model: what they call its operations, and where in the fields
 * of a record stands what the model's calls hold. Here is also what all dialects share: which
 * object an operation is about (`readSaid`), and whether an `ok` says no (`saysNo`). A word that
 * nobody knows is a mistake, since a no that is taken for a yes makes a wrong verdict.
 */
import type { Json } from '../../core/kernel/json.ts';
import { suggest } from '../../text/problem.ts';
import type { Beginning } from '../models.ts';
import { ednText, isArray } from './edn.ts';
import type { Format, RecordedOperation } from './record.ts';

/** A call as `CallData` in `model.ts`. */
export type NamedFields = { readonly [field: string]: Json; readonly name: string };

export interface Dialect {
  /** The model's name. */
  readonly model: string;
  /** By what a log may say: the name of the model's call. */
  readonly words: ReadonlyMap<string, string>;
  /** The fields that may name the independent object, the first that is there. */
  readonly keys: readonly string[];
  /** By the name of the model's call; without an entry it answers nothing but yes. */
  readonly answers?: ReadonlyMap<string, Answers>;
  /** Whether a text as the value of a call names the object. */
  readonly isNamedByValue?: boolean;
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

const ONLY_YES: Answers = { yes: [], no: [] };

/** Text says what is wrong. `name` is that of the model's call. */
export function readSaid(
  name: string,
  operation: RecordedOperation,
  dialect: Dialect,
  { readsPairs }: Pick<Format, 'readsPairs'>,
): Said | string {
  const isNo = saysNo(operation, dialect.answers?.get(name) ?? ONLY_YES);
  if (typeof isNo === 'string') return isNo;
  const plain = {
    name,
    operation,
    asked: operation.asked['value'],
    answered: operation.answered['value'],
    isNo,
    isFromPair: false,
    isValueIgnored: false,
  };
  const key = namedKey(operation, dialect.keys);
  if (key !== null) return { key, ...plain };
  const pair = plain.asked;
  if (readsPairs && isArray(pair) && pair.length === 2 && mayBeKeyed(name, pair)) {
    const told = plain.answered;
    const answered = isArray(told) && told.length === 2 ? told[1] : told;
    const [first = null, asked] = pair;
    return { ...plain, key: keyText(first), asked, answered, isFromPair: true };
  }
  if (dialect.isNamedByValue !== true || pair === undefined || pair === null) {
    return { key: '', ...plain };
  }
  return typeof pair === 'string'
    ? { ...plain, key: pair }
    : { ...plain, key: '', isValueIgnored: true };
}

function namedKey({ asked, answered }: RecordedOperation, names: readonly string[]): string | null {
  for (const name of names) {
    const named = asked[name] ?? answered[name] ?? null;
    if (named !== null) return keyText(named);
  }
  return null;
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
function saysNo(operation: RecordedOperation, answers: Answers): boolean | string {
  const { answered, asked, outcome } = operation;
  if (outcome !== 'ok') return false;
  const said: (boolean | string)[] = [];
  const answer = answered['answer'] ?? null;
  if (answer !== null) said.push(read(answer, 'answer', answers));
  const isOk = answered['ok'] ?? null;
  if (isOk !== null) said.push(read(isOk, 'ok', answers));
  const value = answered['value'] ?? null;
  const isTold = answers.mayBeValue === true && ednText(asked['value'] ?? null) !== ednText(value);
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
