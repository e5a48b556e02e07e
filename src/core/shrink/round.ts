/**
 * Decides which of two times a person would rather read, and offers round numbers near or between
 * others. Numbers are non-negative integer microseconds, read as milliseconds.
 */
import type { RangeUs } from '../plan/plan.ts';

const DECIMALS_OF_MS = 3;
const COARSEST_US = 1_000_000_000;

/**
 * How many digits it takes to write `us` in milliseconds, not counting zeros at the end: 0 for 0, 1
 * for 10 ms, 20 ms and 0.5 ms, 2 for 12 ms, 4 for 9.999 ms, 3 for 0.007 ms.
 */
export function digitsOf(us: number): number {
  if (us === 0) return 0;
  let zeros = 0;
  let rest = us;
  while (rest % 10 === 0) {
    rest /= 10;
    zeros += 1;
  }
  return Math.max(String(rest).length, DECIMALS_OF_MS - zeros);
}

/** The roundest number strictly between two, near their middle; null when there is none. */
export function roundestBetween(aboveUs: number, belowUs: number): number | null {
  const middleUs = (aboveUs + belowUs) / 2;
  for (let gridUs = COARSEST_US; gridUs >= 1; gridUs /= 10) {
    const us = Math.round(middleUs / gridUs) * gridUs;
    if (us > aboveUs && us < belowUs) return us;
  }
  return null;
}

/** Numbers in `range` that are rounder than `us`, the roundest and then the nearest first. */
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

/** The multiple of `gridUs` nearest to `us` that lies in `range`; `us` itself when none does. */
export function roundTo(us: number, gridUs: number, range: RangeUs): number {
  const nearest = Math.round(us / gridUs) * gridUs;
  const choices = [nearest, nearest + gridUs, nearest - gridUs];
  return choices.find((other) => other >= range.minUs && other <= range.maxUs) ?? us;
}

/** The number in `range` that is nearest to `us`. */
export function clamp(us: number, range: RangeUs): number {
  return Math.min(Math.max(us, range.minUs), range.maxUs);
}
