/**
 * What the breaches of one claim came from, over many seeds: how many seeds had each cause, and the
 * lowest of them. A cause may have more faults than its breach needs, so causes that differ in that
 * alone are one kind of failure, by the one that has the fewest.
 */
import { z } from 'zod';
import { type BreachCause, causeText, isPartOf, isSameCause } from '../../check/breach-cause.ts';
import { FAULT_KINDS } from '../../core/plan/fault.ts';

/** Seeds on which a claim broke by one cause. */
export interface CauseTally {
  readonly cause: BreachCause;
  readonly broken: number;
  /** The lowest of them, ascending, at most `KEPT_OF_CAUSE`. */
  readonly brokenSeeds: readonly number[];
}

export const KEPT_OF_CAUSE = 3;

/**
 * Causes that are kept of a claim: those whose words come first, so that it does not matter in what
 * order chunks are added up. Few claims have a fourth of that.
 */
export const KEPT_CAUSES = 48;

/** `stale-write: pause before access`. */
export function causeName(cause: BreachCause): string {
  return `${cause.rule}: ${causeText(cause)}`;
}

export function mergeCauses(
  a: readonly CauseTally[],
  b: readonly CauseTally[],
): readonly CauseTally[] {
  const merged = new Map(a.map((one) => [ownName(one.cause), one]));
  for (const one of b) {
    const name = ownName(one.cause);
    const known = merged.get(name);
    merged.set(name, known === undefined ? one : together(known, one));
  }
  const inOrder = [...merged].sort(([x], [y]) => (x < y ? -1 : 1)).slice(0, KEPT_CAUSES);
  return inOrder.map(([, one]) => one);
}

/** What is the same for all that count as one cause. */
function ownName(cause: BreachCause): string {
  return causeName({ ...cause, earlier: [] });
}

/** Of what was injected before, the least: without the rest it broke as well. */
function together(one: CauseTally, other: CauseTally): CauseTally {
  const seeds = [...one.brokenSeeds, ...other.brokenSeeds].sort((x, y) => x - y);
  return {
    cause: isLess(other.cause, one.cause) ? other.cause : one.cause,
    broken: one.broken + other.broken,
    brokenSeeds: seeds.slice(0, KEPT_OF_CAUSE),
  };
}

/** Whether it is the same cause with less before it: one of other faults is another, not less. */
function isLess(one: BreachCause, other: BreachCause): boolean {
  const [{ earlier: fewer = [] }, { earlier: more = [] }] = [one, other];
  if (more.length === 0 || ownName(one) !== ownName(other)) return false;
  return fewer.length === more.length
    ? causeName(one) < causeName(other)
    : fewer.length < more.length;
}

/** The kinds of failure among causes, that of the lowest seed first. */
export function kindsAmong(causes: readonly CauseTally[]): readonly CauseTally[] {
  const kinds: CauseTally[] = [];
  const fewestFirst = [...causes].sort(
    (x, y) => x.cause.faults.length - y.cause.faults.length || y.broken - x.broken,
  );
  for (const one of fewestFirst) {
    const at = kinds.findIndex(({ cause }) => needsNoMore(cause, one.cause));
    const known = kinds[at];
    if (known === undefined) kinds.push(one);
    else kinds[at] = together(known, one);
  }
  return kinds.sort((x, y) => (x.brokenSeeds[0] ?? 0) - (y.brokenSeeds[0] ?? 0));
}

/** Whether what made the one breach made the other too; no fault at all explains none. */
function needsNoMore(one: BreachCause, other: BreachCause): boolean {
  const isPart = one.faults.length > 0 ? isPartOf(one, other) : other.faults.length === 0;
  return isPart && isSameCause(one, other);
}

const count = z.int().min(0);
const hits = z.array(z.strictObject({ kind: z.enum(FAULT_KINDS), what: z.string().max(500) }));

export const causesSchema: z.ZodType<readonly CauseTally[]> = z
  .array(
    z.strictObject({
      cause: z.strictObject({
        rule: z.string().max(100),
        isByForeignRelease: z.boolean(),
        faults: hits,
        earlier: hits.exactOptional(),
      }),
      broken: count,
      brokenSeeds: z.array(count).max(KEPT_OF_CAUSE),
    }),
  )
  .max(KEPT_CAUSES);
