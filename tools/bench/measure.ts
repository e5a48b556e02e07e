/** How everything here is measured: one pass to warm up, then the median of several. */

/** One line of the table. */
export interface Row {
  readonly what: string;
  readonly figure: string;
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
  readonly rows: () => Promise<readonly Row[]>;
}

const PASSES = 5;

/** The middle one; the lower of two. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[(sorted.length - 1) >> 1] ?? Number.NaN;
}

/** Milliseconds that each of `actions` takes; they take turns, so all meet the same noise. */
export async function medianMs<Name extends string>(
  actions: Readonly<Record<Name, () => unknown>>,
  passes: number = PASSES,
): Promise<ReadonlyMap<string, number>> {
  const samples = new Map<string, number[]>();
  for (let pass = 0; pass <= passes; pass += 1) {
    for (const [name, action] of Object.entries<() => unknown>(actions)) {
      const startedMs = performance.now();
      await action();
      const tookMs = performance.now() - startedMs;
      if (pass > 0) samples.set(name, [...(samples.get(name) ?? []), tookMs]);
    }
  }
  return new Map([...samples].map(([name, taken]) => [name, median(taken)]));
}

/** `3.14 M/s`, `812 k/s` or `640/s`. */
export function formatRate(count: number, milliseconds: number): string {
  const perSecond = (count * 1_000) / milliseconds;
  if (perSecond >= 1_000_000) return `${(perSecond / 1_000_000).toFixed(2)} M/s`;
  return perSecond >= 10_000
    ? `${(perSecond / 1_000).toFixed(0)} k/s`
    : `${perSecond.toFixed(0)}/s`;
}

/** `2.31×`. */
export function formatRatio(one: number, other: number): string {
  return `${(one / other).toFixed(2)}×`;
}
