/**
 * Adds up requests of user code for things that are not simulated: Redis commands, Node builtins,
 * servers. A run with a refused request shows only how the code behaves after the refusal.
 * Therefore, a system with such a request is not judged.
 */
import { z } from 'zod';
import type { Unsimulated } from '../../core/history/trace.ts';
import { groupDigits } from '../../text/prose.ts';

/** A request, counted over all seeds. `place` is the origin of the request on `firstSeed`. */
interface UnsimulatedCount extends Unsimulated {
  readonly firstSeed: number;
}

export interface UnsimulatedCounts {
  readonly found: readonly UnsimulatedCount[];
  readonly others: number;
}

const KEPT_UNSIMULATED = 20;

const times = z.int().min(0);

const inOneRun = z.strictObject({
  kind: z.enum(['command', 'builtin', 'protocol']),
  what: z.string().describe('XADD, cmsgpack, http.request, PostgreSQL at db:5432'),
  place: z.string().nullable().describe('of the first request, in user code if known'),
  package: z.string().nullable().describe('the package that made it; null for user code'),
  count: times,
});

/** Schema of the requests of one run. */
export const unsimulatedInRunSchema: z.ZodType<readonly Unsimulated[]> = z.array(inOneRun);

export const unsimulatedSchema: z.ZodType<UnsimulatedCounts> = z.strictObject({
  found: z
    .array(inOneRun.extend({ firstSeed: times }))
    .max(KEPT_UNSIMULATED)
    .describe('by kind and name'),
  others: times.describe('number of requests for anything else'),
});

export const ALL_SIMULATED: UnsimulatedCounts = { found: [], others: 0 };

/**
 * Keeps the first entries in key order. Neither part has dropped any of these entries, so their
 * counts are complete.
 */
export function mergeUnsimulated(a: UnsimulatedCounts, b: UnsimulatedCounts): UnsimulatedCounts {
  if (b.found.length === 0) return a;
  const merged = new Map<string, UnsimulatedCount>();
  for (const entry of [...a.found, ...b.found]) {
    const key = `${entry.kind} ${entry.what}`;
    const known = merged.get(key) ?? entry;
    const first = entry.firstSeed < known.firstSeed ? entry : known;
    const count = known === entry ? entry.count : known.count + entry.count;
    merged.set(key, { ...first, count });
  }
  const sorted = [...merged].sort(([x], [y]) => (x < y ? -1 : 1)).map(([, entry]) => entry);
  const left = sorted.slice(KEPT_UNSIMULATED).reduce((sum, { count }) => sum + count, 0);
  return { found: sorted.slice(0, KEPT_UNSIMULATED), others: a.others + b.others + left };
}

/** Maximum number of names in the text. The others are counted. */
const NAMED = 5;

/**
 * Returns a line such as `not simulated: XADD (3×, first from queue.mjs:9:3); this package cannot
 * be tested: bullmq`.
 */
export function unsimulatedText({
  found,
  others = 0,
}: {
  readonly found: readonly Unsimulated[];
  readonly others?: number;
}): string {
  const most = [...found].sort((a, b) => b.count - a.count);
  const named = most.slice(0, NAMED).map(({ what, count, place }) => {
    const first = place === null ? '' : `, first from ${place}`;
    return `${what} (${groupDigits(count)}×${first})`;
  });
  const left = most.slice(NAMED).reduce((sum, { count }) => sum + count, others);
  if (left > 0) named.push(`others (${groupDigits(left)}×)`);
  // A missing entry of `hosts` does not mean that a package cannot be tested.
  const beyond = found.filter(({ what }) => !/^(?:Redis at|the host|the address) /.test(what));
  const packages = [...new Set(beyond.flatMap((entry) => entry.package ?? []))].sort();
  const subject = packages.length === 1 ? 'this package' : 'these packages';
  const so = packages.length === 0 ? '' : `; ${subject} cannot be tested: ${packages.join(', ')}`;
  return `not simulated: ${named.join(', ')}${so}`;
}
