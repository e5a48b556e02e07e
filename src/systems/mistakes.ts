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

function errorFor(value: unknown, what: string): TypeError | RangeError {
  return typeof value === 'number' ? new RangeError(what) : new TypeError(what);
}

/** A value as people recognize it, in a few characters. */
function shownValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40));
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'function' ? 'a function' : String(value);
}
