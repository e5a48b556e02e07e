/**
 * Counts the causes of the breaches of one claim, with the lowest seeds per cause. A cause may list
 * more faults than its breach needs. Therefore, causes that differ only in additional faults are
 * one kind of failure. The cause with the fewest faults represents the kind.
 */
import { z } from 'zod';
import { type BreachCause, causeText, isPartOf, isSameCause } from '../../check/breach-cause.ts';
import { FAULT_KINDS } from '../../core/plan/fault.ts';

/** Seeds on which a claim broke by one cause. */
export interface CauseCounts {
  readonly cause: BreachCause;
  readonly broken: number;
  /** The lowest of these seeds, ascending, at most `KEPT_OF_CAUSE`. */
  readonly brokenSeeds: readonly number[];
}

export const KEPT_OF_CAUSE = 3;

/**
 * Maximum number of causes per claim. The first causes in alphabetical order are kept, so that the
 * merge order of chunks has no effect. Few claims have 12 causes or more.
 */
export const KEPT_CAUSES = 48;

/** Returns, for example, `stale-write: pause before access`. */
export function causeName(cause: BreachCause): string {
  return `${cause.rule}: ${causeText(cause)}`;
}

export function mergeCauses(
  a: readonly CauseCounts[],
  b: readonly CauseCounts[],
): readonly CauseCounts[] {
  const merged = new Map(a.map((counts) => [uniqueName(counts.cause), counts]));
  for (const counts of b) {
    const name = uniqueName(counts.cause);
    const known = merged.get(name);
    merged.set(name, known === undefined ? counts : together(known, counts));
  }
  const inOrder = [...merged].sort(([x], [y]) => (x < y ? -1 : 1)).slice(0, KEPT_CAUSES);
  return inOrder.map(([, counts]) => counts);
}

/** Returns a key that is equal for causes that are counted as one. */
function uniqueName(cause: BreachCause): string {
  return causeName({ ...cause, earlier: [] });
}

/** Merges two counts of a cause. Keeps the shorter list of earlier faults, which is sufficient. */
function together(one: CauseCounts, other: CauseCounts): CauseCounts {
  const seeds = [...one.brokenSeeds, ...other.brokenSeeds].sort((x, y) => x - y);
  return {
    cause: isLess(other.cause, one.cause) ? other.cause : one.cause,
    broken: one.broken + other.broken,
    brokenSeeds: seeds.slice(0, KEPT_OF_CAUSE),
  };
}

function isLess(one: BreachCause, other: BreachCause): boolean {
  const [{ earlier: fewer = [] }, { earlier: more = [] }] = [one, other];
  if (more.length === 0 || uniqueName(one) !== uniqueName(other)) return false;
  return fewer.length === more.length
    ? causeName(one) < causeName(other)
    : fewer.length < more.length;
}

/** Groups causes into kinds of failure, by lowest seed. */
export function kindsAmong(causes: readonly CauseCounts[]): readonly CauseCounts[] {
  const kinds: CauseCounts[] = [];
  const fewestFirst = [...causes].sort(
    (x, y) => x.cause.faults.length - y.cause.faults.length || y.broken - x.broken,
  );
  for (const counts of fewestFirst) {
    const at = kinds.findIndex(({ cause }) => needsNoMore(cause, counts.cause));
    const known = kinds[at];
    if (known === undefined) kinds.push(counts);
    else kinds[at] = together(known, counts);
  }
  return kinds.sort((x, y) => (x.brokenSeeds[0] ?? 0) - (y.brokenSeeds[0] ?? 0));
}

/** Returns true if the faults of `one` explain `other`. If `one` has none, so must `other`. */
function needsNoMore(one: BreachCause, other: BreachCause): boolean {
  const isPart = one.faults.length > 0 ? isPartOf(one, other) : other.faults.length === 0;
  return isPart && isSameCause(one, other);
}

const count = z.int().min(0);
const affected = z.array(z.strictObject({ kind: z.enum(FAULT_KINDS), what: z.string().max(500) }));

export const causesSchema: z.ZodType<readonly CauseCounts[]> = z
  .array(
    z.strictObject({
      cause: z.strictObject({
        rule: z.string().max(100),
        isByNonOwnerRelease: z.boolean(),
        faults: affected,
        earlier: affected.exactOptional(),
      }),
      broken: count,
      brokenSeeds: z.array(count).max(KEPT_OF_CAUSE),
    }),
  )
  .max(KEPT_CAUSES);
