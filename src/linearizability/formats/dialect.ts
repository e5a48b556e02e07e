/**
 * A dialect is how logs speak of one model: what they call its operations, and where in the fields
 * of a record stands what the model's calls hold.
 */
import type { Json } from '../../core/kernel/json.ts';
import type { Beginning } from '../models.ts';
import type { Answers } from './answers.ts';
import { textOf } from './edn-text.ts';
import type { RecordedOperation } from './record.ts';
import type { Said } from './said.ts';

/** A call as `CallData` in `operation.ts`. */
export type NamedFields = { readonly [field: string]: Json; readonly name: string };

export interface Dialect {
  /** The model's name. */
  readonly model: string;
  /** By what a log may say: the name of the model's call. */
  readonly words: ReadonlyMap<string, string>;
  /** The fields that may name the independent object, the first that is there. */
  readonly keys: readonly string[];
  /** By the name of the model's call; without an entry it answers nothing but yes. */
  readonly answers: ReadonlyMap<string, Answers>;
  /** Whether a text as the value of a call names the object. */
  readonly isNamedByValue?: boolean;
  /** How the model begins when its object holds `initial`; text says why it cannot. */
  readonly begin: (initial: Json | undefined) => Beginning | string;
  /**
   * The call, with the answer that the record holds; text says what it lacks. `name` is that of the
   * model's call.
   */
  readonly callOf: (name: string, operation: RecordedOperation, said: Said) => NamedFields | string;
}

/** Whatever the objects are: each may be named by any of these. */
export const ANY_KEY: readonly string[] = ['key', 'lock', 'lease', 'semaphore', 'resource'];

/**
 * A value that models compare by identity. Numbers and nil stay; anything else becomes its text, in
 * quotes when it is a string, so that none can be mistaken for a word of a model, like `unknown`.
 */
export function scalarOf(value: Json): number | string | null {
  return value === null || typeof value === 'number' ? value : textOf(value);
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
