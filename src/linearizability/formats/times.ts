/** Turns times as files write them, in any unit and of any length, into positions. */
import type { Json } from '../../core/kernel/json.ts';
import { decimalOf, scaleUp } from './decimal.ts';

/** Digits after the point that count. */
const PLACES = 12;
const ONE = scaleUp(1n, PLACES);
/** The largest number of 64 bits, which Go programs write for "not yet". */
const NEVER = scaleUp(9_223_372_036_854_775_807n, PLACES);
/** No clock counts further. */
const MOST = scaleUp(1n, PLACES + 30);
/** Times that are larger, like those since 1970 in nanoseconds, count from the first one. */
const FAR = 1n << 32n;

/**
 * The times of one file as positions in one order, whether they are written as numbers or strings,
 * with a fraction or without.
 */
export class Times {
  private base: bigint | null = null;

  /** Null for what is no time, or so far from the first one that it could not be exact. */
  of(value: Json | undefined): number | null {
    const exact = exactTime(value);
    if (exact === null) return null;
    const fraction = ((exact % ONE) + ONE) % ONE;
    const whole = (exact - fraction) / ONE;
    this.base ??= whole > FAR || whole < -FAR ? whole : 0n;
    const distance = Number(whole - this.base);
    return Number.isSafeInteger(distance) ? distance + Number(fraction) / Number(ONE) : null;
  }
}

export function isNever(value: Json | undefined): boolean {
  const exact = exactTime(value);
  return exact !== null && exact >= NEVER;
}

/** In units of the last of `PLACES`. */
function exactTime(value: Json | undefined): bigint | null {
  if (typeof value !== 'number' && typeof value !== 'string') return null;
  const decimal = decimalOf(String(value));
  if (decimal === null) return null;
  const { digits, places } = decimal;
  const units =
    places <= PLACES ? scaleUp(digits, PLACES - places) : digits / scaleUp(1n, places - PLACES);
  return units < MOST && units > -MOST ? units : null;
}
