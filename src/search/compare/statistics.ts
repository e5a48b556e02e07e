/**
 * Intervals over seeds, of 95 % where nothing else is said. A run is one draw: its sections wait
 * for one another, so they are no draws of their own. What is estimated is therefore bootstrapped
 * over whole runs (percentiles of resamples, each the size of the sample), and the share of runs
 * that do something has a Wilson interval.
 */
import { assert } from '../../core/kernel/assert.ts';
import { Draw } from '../../scenario/draw.ts';

/** An estimate with its interval; `value` is null where there was nothing to estimate it from. */
export interface Estimate {
  readonly value: number | null;
  readonly lower: number | null;
  readonly upper: number | null;
}

/** `hits` of `runs`, with the bounds of the share. */
export interface Share {
  readonly hits: number;
  readonly runs: number;
  readonly lower: number;
  readonly upper: number;
}

export const RESAMPLES = 1_000;

/** For each resample how often each run is in it: the same for all that has as many runs. */
export type Resamples = readonly (readonly number[])[];

/** Draws `runs` of `runs` with replacement, `RESAMPLES` times; the same on every machine. */
export function drawResamples(runs: number): Resamples {
  const draw = new Draw('compare/bootstrap', false);
  return Array.from({ length: RESAMPLES }, () => {
    const weights = new Array<number>(runs).fill(0);
    for (let drawn = 0; drawn < runs; drawn += 1) {
      const at = draw.below(runs);
      weights[at] = (weights[at] ?? 0) + 1;
    }
    return weights;
  });
}

/** A statistic of runs, each of which counts `weights[i]` times; null where it has no value. */
export type Statistic = (weights: readonly number[]) => number | null;

/** A statistic of a sample, with its interval of `level`. Of less than two runs there is none. */
export function estimate(statistic: Statistic, resamples: Resamples, level = 0.95): Estimate {
  const runs = resamples[0]?.length ?? 0;
  const value = statistic(new Array<number>(runs).fill(1));
  if (value === null || runs < 2) return { value, lower: null, upper: null };
  const values = resamples.map(statistic).filter((one) => one !== null);
  values.sort((a, b) => a - b);
  const at = (share: number): number | null =>
    values[Math.min(values.length - 1, Math.floor(share * values.length))] ?? null;
  return { value, lower: at((1 - level) / 2), upper: at((1 + level) / 2) };
}

/** The mean of one number a run. */
export function meanOf(numbers: readonly number[]): Statistic {
  const ones = numbers.map(() => 1);
  return ratioOf(numbers, ones);
}

/** One sum over another: so many aborts in so many sections. */
export function ratioOf(parts: readonly number[], wholes: readonly number[]): Statistic {
  return (weights) => {
    const whole = weighted(wholes, weights);
    return whole === 0 ? null : weighted(parts, weights) / whole;
  };
}

/** The quantile of all values of all runs: the least one that `share` of them are not above. */
export function quantileOf(runs: readonly (readonly number[])[], share: number): Statistic {
  const sorted = runs.flatMap((values, run) => values.map((value) => ({ value, run })));
  sorted.sort((a, b) => a.value - b.value);
  return (weights) => {
    let count = 0;
    for (const { run } of sorted) count += weights[run] ?? 0;
    if (count === 0) return null;
    const wanted = Math.max(1, Math.ceil(share * count));
    let below = 0;
    for (const { value, run } of sorted) {
      below += weights[run] ?? 0;
      if (below >= wanted) return value;
    }
    return null;
  };
}

function weighted(numbers: readonly number[], weights: readonly number[]): number {
  assert(numbers.length === weights.length, 'a resample has one weight for each run');
  return numbers.reduce((sum, one, at) => sum + one * (weights[at] ?? 0), 0);
}

/** The 97.5 % point of the normal distribution. */
const Z = 1.959964;

/** E. B. Wilson (1927): it stays inside 0 and 1, and does not shrink to nothing at 0 of n. */
export function wilson(hits: number, runs: number): Share {
  if (runs === 0) return { hits, runs, lower: 0, upper: 1 };
  const share = hits / runs;
  const spread = (Z * Z) / runs;
  const centre = share + spread / 2;
  const reach = Z * Math.sqrt((share * (1 - share) + spread / 4) / runs);
  return {
    ...{ hits, runs },
    lower: hits === 0 ? 0 : (centre - reach) / (1 + spread),
    upper: hits === runs ? 1 : (centre + reach) / (1 + spread),
  };
}
