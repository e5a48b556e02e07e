/**
 * Checks the arguments of public classes such as `LockService` and `Store`. An invalid argument,
 * such as a ttl of NaN, is a programming error, so it throws; a denial is returned. The error names
 * the argument, the expected value and the actual one.
 */

/** Throws if `value` is unacceptable. */
type Check = (name: string, value: unknown) => void;

function expecting(
  expected: string,
  isMeant: (value: unknown) => boolean,
  errorOf: typeof errorFor = (_, message) => new TypeError(message),
): Check {
  return (name, value) => {
    if (isMeant(value)) return;
    throw errorOf(value, `${name} must be ${expected}, not ${shownValue(value)}`);
  };
}

/**
 * Argument checks, which throw a `TypeError` for a wrong type and a `RangeError` for a wrong
 * number. For example, `argument.integerFrom('ttlUs', 0, 1)` throws "ttlUs must be a whole number
 * of at least 1, not 0".
 */
export const argument: {
  /** `name`: a non-empty string. `safe`: a safe integer, such as a time. */
  readonly [Kind in
    | 'name'
    | 'integer'
    | 'safe'
    | 'finite'
    | 'number'
    | 'flag'
    | 'object'
    | 'list'
    | 'function'
    | 'json']: (name: string, value: unknown) => void;
} & {
  /** A safe integer of at least `least`. */
  readonly integerFrom: (name: string, value: unknown, least: number) => void;
  readonly word: (name: string, value: unknown, words: readonly string[]) => void;
  /** An instance of the class `by`. */
  readonly made: (
    name: string,
    value: unknown,
    by: abstract new (...args: never[]) => object,
  ) => void;
} = {
  name: expecting('a non-empty string', (value) => typeof value === 'string' && value !== ''),
  integer: expecting('a whole number', Number.isInteger, errorFor),
  safe: expecting('a whole number', Number.isSafeInteger, errorFor),
  finite: expecting('a finite number', Number.isFinite, errorFor),
  number: expecting('a number', (value) => typeof value === 'number'),
  flag: expecting('true or false', (value) => typeof value === 'boolean'),
  object: expecting(
    'an object',
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  ),
  list: expecting('a list', Array.isArray),
  function: expecting('a function', (value) => typeof value === 'function'),
  json: expecting('plain JSON data', isJson, errorFor),
  integerFrom(name, value, least) {
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return;
    const message = `${name} must be a whole number of at least ${least}, not ${shownValue(value)}`;
    throw errorFor(value, message);
  },
  word(name, value, words) {
    if (words.some((word) => word === value)) return;
    const message = `${name} must be one of ${words.join(', ')}, not ${shownValue(value)}`;
    throw typeof value === 'string' ? new RangeError(message) : new TypeError(message);
  },
  made(name, value, by) {
    if (value instanceof by) return;
    throw new TypeError(`${name} must be a ${by.name}, not ${shownValue(value)}`);
  },
};

function isJson(value: unknown): boolean {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value === 'object' && Object.values(value).every(isJson);
}

function errorFor(value: unknown, message: string): TypeError | RangeError {
  return typeof value === 'number' ? new RangeError(message) : new TypeError(message);
}

function shownValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40));
  if (typeof value === 'bigint') return `${value}n`;
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'function' ? 'a function' : String(value);
}
