/**
 * What the plain classes say of a caller's mistake. A denial or a refusal is an answer, which the
 * caller must expect, and is returned; an argument that cannot be meant, such as a ttl of NaN, is
 * a mistake in the program, and is thrown: a `TypeError` where it is of the wrong type, else a
 * `RangeError`. Either says which argument, what was expected and what was given.
 */

/** Refuses what is not a text with at least one character. */
export function requireName(name: string, value: unknown): void {
  if (typeof value === 'string' && value !== '') return;
  const what = `${name} must be a text that is not empty, not ${shownValue(value)}`;
  throw new TypeError(what);
}

/** Refuses what is not a safe integer from `least` on. */
export function requireWhole(name: string, value: unknown, least: number): void {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return;
  const from = least === Number.MIN_SAFE_INTEGER ? '' : ` from ${least} on`;
  throw errorFor(value, `${name} must be a whole number${from}, not ${shownValue(value)}`);
}

/** Refuses what is no integer of any sign and size. */
export function requireInteger(name: string, value: unknown): void {
  if (Number.isInteger(value)) return;
  throw errorFor(value, `${name} must be a whole number, not ${shownValue(value)}`);
}

/** Refuses what is no safe integer of any sign. */
export function requireSafe(name: string, value: unknown): void {
  requireWhole(name, value, Number.MIN_SAFE_INTEGER);
}

/** Refuses what is no time: a clock may show anything, also what is before its epoch. */
export function requireTime(name: string, value: unknown): void {
  requireSafe(name, value);
}

/** Refuses what is no number, or not a finite one. */
export function requireFinite(name: string, value: unknown): void {
  if (Number.isFinite(value)) return;
  throw errorFor(value, `${name} must be a finite number, not ${shownValue(value)}`);
}

/** Refuses what is no number; whether it can be meant is for others to say. */
export function requireNumber(name: string, value: unknown): void {
  if (typeof value === 'number') return;
  throw new TypeError(`${name} must be a number, not ${shownValue(value)}`);
}

/** Refuses everything but the words that there are. */
export function requireWord(name: string, value: unknown, words: readonly string[]): void {
  if (words.some((word) => word === value)) return;
  const what = `${name} must be one of ${words.join(', ')}, not ${shownValue(value)}`;
  throw typeof value === 'string' ? new RangeError(what) : new TypeError(what);
}

/** Refuses what only looks like yes or no, such as `0` and `'false'`. */
export function requireFlag(name: string, value: unknown): void {
  if (typeof value === 'boolean') return;
  throw new TypeError(`${name} must be true or false, not ${shownValue(value)}`);
}

/** Refuses what has no named arguments in it. */
export function requireObject(name: string, value: unknown): void {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return;
  throw new TypeError(`${name} must be an object, not ${shownValue(value)}`);
}

/** Refuses what is no array. */
export function requireList(name: string, value: unknown): void {
  if (Array.isArray(value)) return;
  throw new TypeError(`${name} must be a list, not ${shownValue(value)}`);
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

/** Refuses what cannot be called. */
export function requireFunction(name: string, value: unknown): void {
  if (typeof value === 'function') return;
  throw new TypeError(`${name} must be a function, not ${shownValue(value)}`);
}

/** Refuses what does not survive `JSON.stringify` as it is, among it NaN. */
export function requireJson(name: string, value: unknown): void {
  if (isJson(value)) return;
  throw errorFor(value, `${name} must be plain JSON data, not ${shownValue(value)}`);
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
