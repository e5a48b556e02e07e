/**
 * Sets how often a law is tried: as often as its test states (`npm run nightly`, or a single file),
 * a third of that in `npm run test:all`, a tenth in `npm test`; but at least five times, so that
 * each law is tried. Of the lists that laws go through, each commit takes another part, so that no
 * item waits for the nightly run forever. The most expensive slow tests take turns in the same way.
 */

import type { TestAPI } from 'vitest';

/** Divisor of the runs of a law, and number of parts of its lists, by tier. */
const DEPTHS: Readonly<Record<string, { readonly runs: number; readonly parts: number }>> = {
  short: { runs: 10, parts: 5 },
  third: { runs: 3, parts: 2 },
};

const { env } = process;
const { runs: share, parts } = DEPTHS[env['FENCEPOST_LAWS'] ?? ''] ?? { runs: 1, parts: 1 };
const turn = Number(env['FENCEPOST_TURN'] ?? 0);

/** Returns all items of a list, every second in `test:all`, every fifth in `test`. */
export function some<T>(list: readonly T[]): readonly T[] {
  return list.filter((_, at) => at % parts === turn % parts);
}

/**
 * Wraps `declare`, such as `test`, so that of the tests declared with the result only every second
 * runs in `test:all`; the others are skipped. All of them run at night.
 */
export function rotating(
  declare: TestAPI,
): (name: string, body: () => unknown, timeoutMs?: number) => void {
  let declared = 0;
  return (name, body, timeoutMs) => {
    const isDue = declared % parts === turn % parts;
    declared += 1;
    (isDue ? declare : declare.skip)(name, body, timeoutMs);
  };
}

/** Returns the value for `numRuns`. */
export function runs(count: number): number {
  return Math.max(Math.min(count, 5), Math.ceil(count / share));
}
