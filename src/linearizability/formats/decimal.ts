/**
 * Decides which numbers of a JSON text a double would round, and keeps those as they are written.
 */

/** `digits` divided by ten as often as `places` says. */
export interface Decimal {
  readonly digits: bigint;
  readonly places: number;
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
const MOST_EXPONENT = 400;

/** The exact number that a text writes down; null when it is none, or beyond all doubles. */
export function decimalOf(text: string): Decimal | null {
  const [, sign, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  if (sign === undefined || Math.abs(Number(exponent)) > MOST_EXPONENT) return null;
  const places = fraction.length - Number(exponent);
  const digits = BigInt(`${sign}${whole}${fraction}`);
  if (places < 0) return { digits: scaleUp(digits, -places), places: 0 };
  return { digits, places };
}

/** `digits` with `places` more of them. */
export function scaleUp(digits: bigint, places: number): bigint {
  return digits * BigInt(`1${'0'.repeat(places)}`);
}

const STRINGS_AND_NUMBERS = /"(?:[^"\\]|\\.)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** What has no more digits than this is exact, or no engine writes it longer. */
const MAY_BE_ROUNDED = /[\d.]{16}|[eE][+-]?\d{3}/;

/** The same JSON with every number that is no exact double as a string. */
export function quoteInexact(text: string): string {
  if (!MAY_BE_ROUNDED.test(text)) return text;
  return text.replace(STRINGS_AND_NUMBERS, (token) =>
    token.startsWith('"') || isExact(token) ? token : `"${token}"`,
  );
}

function isExact(token: string): boolean {
  if (!MAY_BE_ROUNDED.test(token)) return true;
  const number = Number(token);
  if (!Number.isFinite(number)) return false;
  const isWhole = /^-?\d+$/.test(token);
  if (isWhole) return Number.isSafeInteger(number);
  const [written, read] = [decimalOf(token), decimalOf(String(number))];
  return written !== null && read !== null && isSame(written, read);
}

function isSame(one: Decimal, other: Decimal): boolean {
  const places = Math.max(one.places, other.places);
  const at = ({ digits, places: own }: Decimal): bigint => scaleUp(digits, places - own);
  return at(one) === at(other);
}
