/**
 * Reads times, in any unit, as positions in one order: exactly, whether they are written as numbers
 * or texts, with a fraction or without, and however far from zero.
 */
import type { Json } from '../../core/kernel/json.ts';
import { decimalOf, scaleUp } from './json-fields.ts';

/** Digits after the point that count. */
const PLACES = 12;
const ONE = scaleUp(1n, PLACES);
/** No clock counts further. */
const MOST = scaleUp(1n, PLACES + 30);
/** Times that are larger, like those since 1970 in nanoseconds, count from the first one. */
const FAR = 1n << 32n;

/** The largest number of 64 bits, as an `exactTime`; Go programs write it for "not yet". */
export const NEVER: bigint = scaleUp(9_223_372_036_854_775_807n, PLACES);

/** The times of one file as positions in one order. */
export class Times {
  private base: bigint | null = null;

  /** Null for what is no time, or so far from the first one that it could not be exact. */
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

/** In units of the last of `PLACES`; null for what is no time. */
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

/** Whether `time` is before `other`; false if one of them is no time. */
export function isBefore(time: Json | undefined, other: Json | undefined): boolean {
  if (typeof time === 'number' && typeof other === 'number') return time < other;
  const [exact, exactOther] = [exactTime(time), exactTime(other)];
  return exact !== null && exactOther !== null && exact < exactOther;
}
