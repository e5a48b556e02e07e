/**
 * How everything here is measured: one pass to warm up or more, then the median of several. What
 * counts is the processor time of this process, on all its threads; on a shared machine the time on
 * the wall, printed beside it, can differ by a factor of six between two runs of the same code.
 */

/** One line of the table. */
export interface Row {
  readonly what: string;
  /** In processor time; empty where another process does the work. */
  readonly cpu: string;
  readonly wall: string;
  /** The same against something measured in the same run, so that a slow machine shows. */
  readonly ratio: string;
  readonly target: string;
}

/** Something that can be measured by name. */
export interface Subject {
  readonly name: string;
  readonly about: string;
  /** Whether it takes minutes, so that it runs only when `--long` asks for it. */
  readonly isLong: boolean;
  /** Gives each row as soon as it is measured. */
  readonly rows: () => AsyncIterable<Row> | Iterable<Row>;
}

/** What one action took, in milliseconds. */
export interface Timing {
  readonly cpuMs: number;
  readonly wallMs: number;
}

export const PASSES = 5;
const NONE: Timing = { cpuMs: Number.NaN, wallMs: Number.NaN };

/** The middle one; the lower of two. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[(sorted.length - 1) >> 1] ?? Number.NaN;
}

/** The middle of each kind of time. */
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
 * What each of `actions` takes, by name; they take turns, so all meet the same noise. The first
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

/** `count` things per second, for both columns of a row. */
export function rates(count: number, { cpuMs, wallMs }: Timing): Pick<Row, 'cpu' | 'wall'> {
  return { cpu: formatRate(count, cpuMs), wall: formatRate(count, wallMs) };
}

/** Milliseconds for both columns of a row. */
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

/** `2.31×`, of processor times. */
export function formatRatio(one: Timing, other: Timing): string {
  return `${(one.cpuMs / other.cpuMs).toFixed(2)}×`;
}

/** `2.31×`, of times on the wall, where other processes or threads do the work. */
export function wallRatio(one: number, other: number): string {
  return `${(one / other).toFixed(2)}×`;
}
