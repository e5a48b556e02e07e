/**
 * What the plain classes say of a caller's mistake. A denial or a refusal is an answer, which the
 * caller must expect, and is returned; an argument that cannot be meant, such as a ttl of NaN, is
 * a mistake in the program, and is thrown: a `TypeError` where it is of the wrong type, else a
 * `RangeError`. Either says which argument, what was expected and what was given.
 */

/** Refuses an argument, by its name, that cannot be meant. */
type Refusal = (name: string, value: unknown) => void;

function refusing(
  expected: string,
  isMeant: (value: unknown) => boolean,
  errorOf: typeof errorFor = (_, what) => new TypeError(what),
): Refusal {
  return (name, value) => {
    if (isMeant(value)) return;
    throw errorOf(value, `${name} must be ${expected}, not ${shownValue(value)}`);
  };
}

/** A text with at least one character. */
export const requireName: Refusal = refusing(
  'a text that is not empty',
  (value) => typeof value === 'string' && value !== '',
);

/** An integer of any sign and size. */
export const requireInteger: Refusal = refusing('a whole number', Number.isInteger, errorFor);

/** A safe integer of any sign. */
export const requireSafe: Refusal = refusing('a whole number', Number.isSafeInteger, errorFor);

/** A time: a clock may show anything, also what is before its epoch. */
export const requireTime: Refusal = refusing('a whole number', Number.isSafeInteger, errorFor);

/** A number that is finite. */
export const requireFinite: Refusal = refusing('a finite number', Number.isFinite, errorFor);

/** Any number; whether it can be meant is for others to say. */
export const requireNumber: Refusal = refusing('a number', (value) => typeof value === 'number');

/** Not what only looks like yes or no, such as `0` and `'false'`. */
export const requireFlag: Refusal = refusing(
  'true or false',
  (value) => typeof value === 'boolean',
);

/** What has named arguments in it. */
export const requireObject: Refusal = refusing(
  'an object',
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

export const requireList: Refusal = refusing('a list', Array.isArray);

/** What can be called. */
export const requireFunction: Refusal = refusing(
  'a function',
  (value) => typeof value === 'function',
);

/** What survives `JSON.stringify` as it is, so not NaN. */
export const requireJson: Refusal = refusing('plain JSON data', isJson, errorFor);

/** Refuses what is not a safe integer from `least` on. */
export function requireWhole(name: string, value: unknown, least: number): void {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return;
  const what = `${name} must be a whole number from ${least} on, not ${shownValue(value)}`;
  throw errorFor(value, what);
}

/** Refuses everything but the words that there are. */
export function requireWord(name: string, value: unknown, words: readonly string[]): void {
  if (words.some((word) => word === value)) return;
  const what = `${name} must be one of ${words.join(', ')}, not ${shownValue(value)}`;
  throw typeof value === 'string' ? new RangeError(what) : new TypeError(what);
}

/** Refuses what was not made by this class. */
export function requireMade(
  name: string,
  value: unknown,
  by: abstract new (...given: never[]) => object,
): void {
  if (value instanceof by) return;
  throw new TypeError(`${name} must be a ${by.name}, not ${shownValue(value)}`);
}

function isJson(value: unknown): boolean {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value === 'object' && Object.values(value).every(isJson);
}

function errorFor(value: unknown, what: string): TypeError | RangeError {
  return typeof value === 'number' ? new RangeError(what) : new TypeError(what);
}

/** A value as people recognize it, in a few characters. */
function shownValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40));
  if (typeof value === 'bigint') return `${value}n`;
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'function' ? 'a function' : String(value);
}
