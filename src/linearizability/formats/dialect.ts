/**
 * A dialect is how logs speak of one model: what they call its operations, and where in the fields
 * of a record stands what the model's calls hold.
 */
import type { Json } from '../../kernel/json.ts';
import type { Beginning } from '../models.ts';
import { isArray, textOf } from './edn-text.ts';
import type { RecordedOperation } from './record.ts';

/** A call as `CallData` in `operation.ts`. */
export type NamedFields = { readonly [field: string]: Json; readonly name: string };

export interface Dialect {
  /** The model's name. */
  readonly model: string;
  readonly about: string;
  /** By what a log may say: the name of the model's call. */
  readonly words: ReadonlyMap<string, string>;
  /** How the model begins when its object holds `initial`; text says why it cannot. */
  readonly begin: (initial: Json | undefined) => Beginning | string;
  /**
   * The call, with the answer that the record holds; text says what it lacks. `name` is that of the
   * model's call.
   */
  readonly callOf: (name: string, operation: RecordedOperation) => NamedFields | string;
}

/** What is asked and answered about one of several independent objects. */
export interface Subject {
  /** The object's name, '' when there is one only. */
  readonly key: string;
  /** The values of call and completion, without the key; undefined: none is given. */
  readonly asked: Json | undefined;
  readonly answered: Json | undefined;
}

/**
 * The key is a field of that name, or of one of `names`; else the first of the value `[key value]`,
 * as Jepsen writes the values of independent objects, when `isPair` finds that it is one.
 */
export function subjectOf(
  operation: RecordedOperation,
  isPair: (value: readonly Json[]) => boolean,
  names: readonly string[] = [],
): Subject {
  const { asked, answered } = operation;
  const plain = { asked: asked['value'], answered: answered['value'] };
  for (const name of ['key', ...names]) {
    const named = asked[name] ?? answered[name] ?? null;
    if (named !== null) return { key: keyText(named), ...plain };
  }
  const pair = plain.asked;
  if (!isArray(pair) || pair.length !== 2 || !isPair(pair)) return { key: '', ...plain };
  const told = plain.answered;
  return {
    key: keyText(pair[0] ?? null),
    asked: pair[1],
    answered: isArray(told) && told.length === 2 ? told[1] : told,
  };
}

export function isAnyPair(): boolean {
  return true;
}

/** A cas of one object is a pair itself: `[expected new]`. */
export function isPairOfPair([, second]: readonly Json[]): boolean {
  return isArray(second) && second.length === 2;
}

function keyText(key: Json): string {
  return typeof key === 'string' ? key : textOf(key);
}

/**
 * A value that models compare by identity. Numbers and nil stay; anything else becomes its text, in
 * quotes when it is a string, so that none can be mistaken for a word of a model, like `unknown`.
 */
export function scalarOf(value: Json): number | string | null {
  return value === null || typeof value === 'number' ? value : textOf(value);
}

/** What an `ok` says was answered where that is not the obvious; '' when it does not. */
export function answerWord({ answered, outcome }: RecordedOperation): string {
  if (outcome !== 'ok') return '';
  const answer = answered['answer'];
  if (answer === false || answered['ok'] === false) return 'denied';
  return typeof answer === 'string' ? answer.replace(/^:/, '') : '';
}

/** `unknown` for an operation that nobody heard of, else what `known` says. */
export function answerOf(operation: RecordedOperation, known: string): string {
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
