/**
 * Measures every benchmark: one or more warm-up passes, then the median of several. The relevant
 * time is the processor time of this process, on all its threads. The wall time, printed next to
 * it, can differ by a factor of six between two runs of the same code on a shared machine.
 */

/** One line of the table. */
export interface Row {
  readonly what: string;
  /** Processor time; empty if another process does the work. */
  readonly cpu: string;
  readonly wall: string;
  /** Relative to another measurement of the same run, so that a slow machine is visible. */
  readonly ratio: string;
  readonly target: string;
}

/** A benchmark with a name. */
export interface Subject {
  readonly name: string;
  readonly about: string;
  /** True if it takes minutes; then it runs only with `--long`. */
  readonly isLong: boolean;
  /** Yields each row as soon as it is measured. */
  readonly rows: () => AsyncIterable<Row> | Iterable<Row>;
}

/** Duration of one action in milliseconds. */
export interface Timing {
  readonly cpuMs: number;
  readonly wallMs: number;
}

export const PASSES = 5;
const NONE: Timing = { cpuMs: Number.NaN, wallMs: Number.NaN };

/** Returns the median, or the lower of the two middle numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[(sorted.length - 1) >> 1] ?? Number.NaN;
}

/** Returns the median of each kind of time. */
export function medianTiming(timings: readonly Timing[]): Timing {
  return {
    cpuMs: median(timings.map(({ cpuMs }) => cpuMs)),
    wallMs: median(timings.map(({ wallMs }) => wallMs)),
  };
}

/** Runs an action once. */
export async function timed(action: () => unknown): Promise<Timing> {
  const usedBefore = process.cpuUsage();
  const startedMs = performance.now();
  await action();
  const wallMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(usedBefore);
  return { cpuMs: (user + system) / 1_000, wallMs };
}

/**
 * Measures each of `actions`, by name. They take turns, so that noise affects all alike. The first
 * `warmUps` passes do not count.
 */
export async function measure<Name extends string>(
  actions: Readonly<Record<Name, () => unknown>>,
  passes: number = PASSES,
  warmUps = 1,
): Promise<(name: Name) => Timing> {
  const samples = new Map<string, Timing[]>();
  for (let pass = 0; pass < warmUps + passes; pass += 1) {
    for (const [name, action] of Object.entries<() => unknown>(actions)) {
      const timing = await timed(action);
      if (pass >= warmUps) samples.set(name, [...(samples.get(name) ?? []), timing]);
    }
  }
  return (name) => {
    const taken = samples.get(name);
    return taken === undefined ? NONE : medianTiming(taken);
  };
}

/** Formats `count` per second for both columns of a row. */
export function rates(count: number, { cpuMs, wallMs }: Timing): Pick<Row, 'cpu' | 'wall'> {
  return { cpu: formatRate(count, cpuMs), wall: formatRate(count, wallMs) };
}

/** Formats milliseconds for both columns of a row. */
export function times({ cpuMs, wallMs }: Timing, digits = 0): Pick<Row, 'cpu' | 'wall'> {
  return { cpu: `${cpuMs.toFixed(digits)} ms`, wall: `${wallMs.toFixed(digits)} ms` };
}

/** `3.14 M/s`, `812 k/s` or `640/s`. */
function formatRate(count: number, milliseconds: number): string {
  const perSecond = (count * 1_000) / milliseconds;
  if (perSecond >= 1_000_000) return `${(perSecond / 1_000_000).toFixed(2)} M/s`;
  return perSecond >= 10_000
    ? `${(perSecond / 1_000).toFixed(0)} k/s`
    : `${perSecond.toFixed(0)}/s`;
}

/** Formats a ratio of processor times as `2.31×`. */
export function formatRatio(one: Timing, other: Timing): string {
  return `${(one.cpuMs / other.cpuMs).toFixed(2)}×`;
}

/** Formats a ratio of wall times as `2.31×`, if other processes or threads do the work. */
export function wallRatio(one: number, other: number): string {
  return `${(one / other).toFixed(2)}×`;
}
