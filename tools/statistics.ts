/** Computes 95 % intervals over seeds. A run is one sample: its sections depend on each other. */

/** A mean with its interval, which has no width for fewer than two numbers. */
export interface Mean {
  readonly value: number;
  readonly lower: number;
  readonly upper: number;
}

/** `hits` of `runs`, with the bounds of the share. */
export interface Share {
  readonly count: number;
  readonly runs: number;
  readonly lower: number;
  readonly upper: number;
}

/** The 97.5 % point of the normal distribution. */
const Z = 1.959964;

/** Returns the mean of one number per seed, and the normal interval, which suffices from 30 on. */
export function meanOf(numbers: readonly number[]): Mean {
  const { length } = numbers;
  const value = numbers.reduce((sum, number) => sum + number, 0) / Math.max(1, length);
  const squares = numbers.reduce((sum, number) => sum + (number - value) ** 2, 0);
  const reach = length < 2 ? 0 : Z * Math.sqrt(squares / (length - 1) / length);
  return { value, lower: value - reach, upper: value + reach };
}

/** E. B. Wilson (1927): stays within 0 and 1, and does not vanish at 0 of n. */
export function shareOf(count: number, runs: number): Share {
  if (runs === 0) return { count, runs, lower: 0, upper: 1 };
  const share = count / runs;
  const spread = (Z * Z) / runs;
  const center = share + spread / 2;
  const reach = Z * Math.sqrt((share * (1 - share) + spread / 4) / runs);
  const lower = count === 0 ? 0 : (center - reach) / (1 + spread);
  const upper = count === runs ? 1 : (center + reach) / (1 + spread);
  return { count, runs, lower, upper };
}
