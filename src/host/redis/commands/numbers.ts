/** Numbers as Redis reads them from arguments and writes them into values and replies. */
import { formatNumber } from '../lua-values.ts';
import type { RedisReply } from '../reply.ts';

const LEAST = -(2n ** 63n);
const MOST = 2n ** 63n - 1n;

/** Null for whatever is not written as Redis itself would write it, or is out of range. */
export function readInteger(text: string): bigint | null {
  if (!/^(0|-?[1-9]\d{0,18})$/.test(text)) return null;
  const value = BigInt(text);
  return isInRange(value) ? value : null;
}

/** Whether it fits into 64 bits. */
export function isInRange(value: bigint): boolean {
  return value >= LEAST && value <= MOST;
}

/** An integer as a reply: as a number, if one holds it exactly. */
export function integerReply(value: bigint): RedisReply {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : { integer: String(value) };
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const INFINITE = /^([+-]?)inf(?:inity)?$/i;

/** A score; null for what is no number. */
export function readFloat(text: string): number | null {
  if (DECIMAL.test(text)) return Number(text);
  const [whole, sign] = INFINITE.exec(text) ?? [];
  if (whole === undefined) return null;
  return sign === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/** How many digits Redis 7.0 writes of a score. */
const DIGITS = 17;

export function scoreReply(score: number): { readonly double: string } {
  return { double: formatNumber(score, DIGITS) };
}

/** As a sorted set that is small keeps it. */
export function scoreText(score: number): string {
  return Number.isInteger(score) ? String(BigInt(score)) : formatNumber(score, DIGITS);
}

/** How many decimal places `INCRBYFLOAT` writes. */
const PLACES = 17n;
/** How many bits C's `long double` has for a number's digits. */
const BITS = 64;

/** A fraction. */
interface Ratio {
  readonly over: bigint;
  readonly under: bigint;
}

/** The sum of two decimals as C has it of `long double`; null where one is infinite. */
export function sumOfDecimals(one: string, other: string): string | null {
  const [first, second] = [ratioOf(one), ratioOf(other)];
  if (first === null || second === null) return null;
  const over = first.over * second.under + second.over * first.under;
  return written(rounded({ over, under: first.under * second.under }));
}

function ratioOf(text: string): Ratio | null {
  const [, sign, whole = '', fraction = '', power = '0'] =
    /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  if (sign === undefined || whole + fraction === '') return null;
  const digits = BigInt(`${sign === '-' ? '-' : ''}${whole}${fraction}`);
  const shift = Number(power) - fraction.length;
  const scale = 10n ** BigInt(Math.abs(shift));
  return rounded(shift < 0 ? { over: digits, under: scale } : { over: digits * scale, under: 1n });
}

/** The nearest fraction that has no more bits. */
function rounded({ over, under }: Ratio): Ratio {
  if (over === 0n) return { over, under: 1n };
  const size = over < 0n ? -over : over;
  const shift = BigInt(BITS - size.toString(2).length + under.toString(2).length);
  const scaled = shift >= 0n ? [size << shift, under] : [size, under << -shift];
  // One bit more than fits may have come.
  const spare = nearest(scaled) >> BigInt(BITS) > 0n ? 1n : 0n;
  const mantissa = nearest(spare === 0n ? scaled : [scaled[0] ?? 0n, (scaled[1] ?? 1n) << 1n]);
  const exponent = spare - shift;
  const signed = over < 0n ? -mantissa : mantissa;
  return exponent >= 0n
    ? { over: signed << exponent, under: 1n }
    : { over: signed, under: 1n << -exponent };
}

/** The whole number nearest to a fraction above 0, of two the even one. */
function nearest([over = 0n, under = 1n]: readonly bigint[]): bigint {
  const [whole, rest] = [over / under, over % under];
  const isUp = rest * 2n > under || (rest * 2n === under && whole % 2n === 1n);
  return isUp ? whole + 1n : whole;
}

function written({ over, under }: Ratio): string {
  const size = over < 0n ? -over : over;
  const digits = String(nearest([size * 10n ** PLACES, under])).padStart(Number(PLACES) + 1, '0');
  const fraction = digits.slice(-Number(PLACES)).replace(/0+$/, '');
  const whole = digits.slice(0, -Number(PLACES));
  const sign = over < 0n && /[1-9]/.test(digits) ? '-' : '';
  return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}
