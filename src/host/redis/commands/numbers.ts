/** Reads and formats numbers as Redis does. */
import { formatNumber } from '../lua-values.ts';
import type { RedisReply } from '../reply.ts';

const LEAST = -(2n ** 63n);
const MOST = 2n ** 63n - 1n;

/** Reads a 64-bit integer in the form that Redis itself writes. Returns null for any other text. */
export function readInteger(text: string): bigint | null {
  if (!/^(0|-?[1-9]\d{0,18})$/.test(text)) return null;
  const value = BigInt(text);
  return isInRange(value) ? value : null;
}

/** Returns true if the value fits into 64 bits. */
export function isInRange(value: bigint): boolean {
  return value >= LEAST && value <= MOST;
}

/** Returns an integer reply: a number if a number can represent the value exactly. */
export function integerReply(value: bigint): RedisReply {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : { integer: String(value) };
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const INFINITE = /^([+-]?)inf(?:inity)?$/i;

/** Reads a score. Returns null if the text is not a number. */
export function readFloat(text: string): number | null {
  if (DECIMAL.test(text)) return Number(text);
  const [match, sign] = INFINITE.exec(text) ?? [];
  if (match === undefined) return null;
  return sign === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/** Significant digits of a score in Redis 7.0. */
const DIGITS = 17;

export function scoreReply(score: number): { readonly double: string } {
  return { double: formatNumber(score, DIGITS) };
}

/** Formats a score as Redis does in a small sorted set. */
export function scoreText(score: number): string {
  return Number.isInteger(score) ? String(BigInt(score)) : formatNumber(score, DIGITS);
}

/** Decimal places in the result of `INCRBYFLOAT`. */
const PLACES = 17n;
/** Bits in the significand of C's `long double`. */
const BITS = 64;

interface Ratio {
  readonly over: bigint;
  readonly under: bigint;
}

/** Adds two decimals with the precision of C's `long double`. Returns null if one is infinite. */
export function sumOfDecimals(one: string, other: string): string | null {
  const [first, second] = [ratioOf(one), ratioOf(other)];
  if (first === null || second === null) return null;
  const over = first.over * second.under + second.over * first.under;
  return written(rounded({ over, under: first.under * second.under }));
}

function ratioOf(text: string): Ratio | null {
  const [, sign, integer = '', fraction = '', power = '0'] =
    /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  if (sign === undefined || integer + fraction === '') return null;
  const digits = BigInt(`${sign === '-' ? '-' : ''}${integer}${fraction}`);
  const shift = Number(power) - fraction.length;
  const scale = 10n ** BigInt(Math.abs(shift));
  return rounded(shift < 0 ? { over: digits, under: scale } : { over: digits * scale, under: 1n });
}

/** Returns the nearest fraction with a significand of `BITS` bits. */
function rounded({ over, under }: Ratio): Ratio {
  if (over === 0n) return { over, under: 1n };
  const size = over < 0n ? -over : over;
  const shift = BigInt(BITS - size.toString(2).length + under.toString(2).length);
  const scaled = shift >= 0n ? [size << shift, under] : [size, under << -shift];
  // The quotient may have one bit too many.
  const extra = nearest(scaled) >> BigInt(BITS) > 0n ? 1n : 0n;
  const mantissa = nearest(extra === 0n ? scaled : [scaled[0] ?? 0n, (scaled[1] ?? 1n) << 1n]);
  const exponent = extra - shift;
  const signed = over < 0n ? -mantissa : mantissa;
  return exponent >= 0n
    ? { over: signed << exponent, under: 1n }
    : { over: signed, under: 1n << -exponent };
}

/** Rounds a positive fraction, with ties to even. */
function nearest([over = 0n, under = 1n]: readonly bigint[]): bigint {
  const [quotient, rest] = [over / under, over % under];
  const isUp = rest * 2n > under || (rest * 2n === under && quotient % 2n === 1n);
  return isUp ? quotient + 1n : quotient;
}

function written({ over, under }: Ratio): string {
  const size = over < 0n ? -over : over;
  const digits = String(nearest([size * 10n ** PLACES, under])).padStart(Number(PLACES) + 1, '0');
  const fraction = digits.slice(-Number(PLACES)).replace(/0+$/, '');
  const integer = digits.slice(0, -Number(PLACES));
  const sign = over < 0n && /[1-9]/.test(digits) ? '-' : '';
  return `${sign}${integer}${fraction === '' ? '' : `.${fraction}`}`;
}
