/** How libraries let arguments be given: texts, numbers and bytes, in lists or one by one. */

export type Argument = string | number | Uint8Array;

/** What is told how a command ended; the error is null where there is none. */
export type Callback = (error: Error | null, value?: unknown) => void;

/** An argument, a list of them, or, as the last one, a callback. */
export type Given = Argument | readonly Given[] | Callback;

export interface Arguments {
  readonly texts: readonly string[];
  readonly callback: Callback | null;
}

/** Flattens lists and finds the callback. Throws a `TypeError` for what is no argument. */
export function readArguments(given: readonly Given[]): Arguments {
  const last = given.at(-1);
  const callback = typeof last === 'function' ? last : null;
  return { texts: textsOf(callback === null ? given : given.slice(0, -1)), callback };
}

function textsOf(given: readonly Given[]): readonly string[] {
  return given.flatMap((one) => (isList(one) ? textsOf(one) : [textOf(one)]));
}

function isList(given: Given): given is readonly Given[] {
  return Array.isArray(given);
}

/** What was given may come from plain JavaScript: `undefined` is the empty text, as in ioredis. */
function textOf(given: unknown): string {
  if (given === undefined || given === null) return '';
  if (typeof given === 'string' || typeof given === 'number') return String(given);
  if (given instanceof Uint8Array) return new TextDecoder().decode(given);
  throw new TypeError(`${typeof given} is no argument of a Redis command`);
}
