/**
 * Rates how easy times are to read, and proposes round numbers. Times are non-negative integer
 * microseconds, which people read as milliseconds.
 *
 * A round number is a whole number of milliseconds with at most two digits before its trailing
 * zeros (9, 11, 20 or 510 ms), or a single digit below one millisecond (0.5 ms). All are equally
 * round, so the smallest that breaks a claim is kept. A pause that must outlast a lease of 10 ms
 * becomes 11 ms long. If one digit were rounder than two, the pause would be 20 ms long, as if two
 * leases had to end.
 */
import type { RangeUs } from '../plan/duration.ts';

const MS = 1_000;
const LEAST_OF_THREE_DIGITS = 100;
const DECIMALS_OF_MS = 3;
const COARSEST_US = 1_000_000_000;

/** A whole number of milliseconds with up to this many digits is as round as a single digit. */
const ROUND_DIGITS = 2;

/**
 * Returns the number of digits needed to write `us` in milliseconds, without trailing zeros: 0 for
 * 0, 1 for every round number, 2 for 1.2 ms, 3 for 502 ms and 0.007 ms, 4 for 9.999 ms.
 */
export function digitsOf(us: number): number {
  if (us === 0) return 0;
  let zeros = 0;
  let rest = us;
  while (rest % 10 === 0) {
    rest /= 10;
    zeros += 1;
  }
  const digits = Math.max(String(rest).length, DECIMALS_OF_MS - zeros);
  return zeros >= DECIMALS_OF_MS && digits <= ROUND_DIGITS ? 1 : digits;
}

/** Returns the smallest round number that is at least `us`. */
export function roundFrom(us: number): number {
  let gridUs = us <= MS ? MS / 10 : MS;
  while (us >= gridUs * LEAST_OF_THREE_DIGITS) gridUs *= 10;
  return Math.ceil(us / gridUs) * gridUs;
}

/** Returns the roundest number strictly between the two arguments, or null if there is none. */
export function roundestBetween(aboveUs: number, belowUs: number): number | null {
  const middleUs = (aboveUs + belowUs) / 2;
  for (let gridUs = COARSEST_US; gridUs >= 1; gridUs /= 10) {
    const us = Math.round(middleUs / gridUs) * gridUs;
    if (us > aboveUs && us < belowUs) return us;
  }
  return null;
}

/** Returns numbers in `range` that are rounder than `us`: roundest first, then nearest first. */
export function rounderThan(us: number, range: RangeUs): readonly number[] {
  const found = new Set<number>();
  for (let gridUs = COARSEST_US; gridUs > 1; gridUs /= 10) {
    found.add(Math.floor(us / gridUs) * gridUs).add(Math.ceil(us / gridUs) * gridUs);
  }
  const distance = (other: number): number => Math.abs(other - us);
  return [...found]
    .filter((other) => other >= range.minUs && other <= range.maxUs)
    .filter((other) => digitsOf(other) < digitsOf(us) && distance(other) <= us)
    .sort((a, b) => digitsOf(a) - digitsOf(b) || distance(a) - distance(b) || a - b);
}

/** Returns the multiple of `gridUs` in `range` nearest to `us`, or `us` if there is none. */
export function roundTo(us: number, gridUs: number, range: RangeUs): number {
  const nearest = Math.round(us / gridUs) * gridUs;
  const choices = [nearest, nearest + gridUs, nearest - gridUs];
  return choices.find((other) => other >= range.minUs && other <= range.maxUs) ?? us;
}

/** Returns the number in `range` nearest to `us`. */
export function clamp(us: number, range: RangeUs): number {
  return Math.min(Math.max(us, range.minUs), range.maxUs);
}
