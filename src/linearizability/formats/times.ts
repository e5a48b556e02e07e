/**
 * Converts times in any unit to positions in one order. Numbers and texts are converted exactly, at
 * any distance from zero.
 */
import type { Json } from '../../core/kernel/json.ts';
import { decimalOf, scaleUp } from './json-fields.ts';

/** Number of significant digits after the decimal point. */
const PLACES = 12;
const ONE = scaleUp(1n, PLACES);
/** Larger than the time of any clock. */
const MOST = scaleUp(1n, PLACES + 30);
/** If the first time is larger, such as nanoseconds since 1970, times are counted from it. */
const FAR = 1n << 32n;

/** The largest 64-bit number, as an `exactTime`; Go programs write it for "not yet". */
export const NEVER: bigint = scaleUp(9_223_372_036_854_775_807n, PLACES);

/** The times of one file as positions in one order. */
export class Times {
  private base: bigint | null = null;

  /** Returns the position of `value`, or null if it is not a time or is too far from the first. */
  of(value: Json | undefined): number | null {
    const exact = exactTime(value);
    if (exact === null) return null;
    const fraction = ((exact % ONE) + ONE) % ONE;
    const units = (exact - fraction) / ONE;
    this.base ??= units > FAR || units < -FAR ? units : 0n;
    const distance = Number(units - this.base);
    return Number.isSafeInteger(distance) ? distance + Number(fraction) / Number(ONE) : null;
  }
}

/** Returns a time in units of 10^−`PLACES`, or null if the value is not a time. */
export function exactTime(value: Json | undefined): bigint | null {
  if (typeof value !== 'number' && typeof value !== 'string') return null;
  const decimal = decimalOf(String(value));
  if (decimal === null) return null;
  const { digits, places } = decimal;
  const units =
    places <= PLACES ? scaleUp(digits, PLACES - places) : digits / scaleUp(1n, places - PLACES);
  return units < MOST && units > -MOST ? units : null;
}

export function isTime(value: Json | undefined): boolean {
  return typeof value === 'number' || exactTime(value) !== null;
}

/** Returns true if `time` is before `other`; false if either is not a time. */
export function isBefore(time: Json | undefined, other: Json | undefined): boolean {
  if (typeof time === 'number' && typeof other === 'number') return time < other;
  const [exact, exactOther] = [exactTime(time), exactTime(other)];
  return exact !== null && exactOther !== null && exact < exactOther;
}
