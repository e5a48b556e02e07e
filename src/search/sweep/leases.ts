/**
 * Collects data about leases in a sweep: the shortest lease, and sections that called `guard()` too
 * early. The shortest lease may explain why no claim about leases was exercised: no fault could
 * outlast it.
 */
import { z } from 'zod';
import { isKeyOf } from '../../check/holders.ts';
import type { GrantLog, TraceIndex } from '../../check/trace-index.ts';
import type { Draft } from '../../core/kernel/json.ts';
import { sectionOf } from '../../core/kernel/name.ts';
import { formatDuration, proseDuration } from '../../core/plan/duration.ts';
import { durationsOf } from '../../core/plan/places.ts';
import type { Scenario, SystemScenario } from '../../scenario/scenario.ts';
import { countOf } from '../../text/prose.ts';

export interface LeaseCounts {
  /** The shortest lease of a lock, or null if no lease was granted or none ends. */
  readonly shortestUs: number | null;
  /** True if the shortest lease is the expiry of a key. */
  readonly ofKey: boolean;
  /** Seeds on which a section called `guard()` before it took its key, and the first of them. */
  readonly early: number;
  readonly firstEarly: { readonly seed: number; readonly section: string } | null;
}

export const NO_LEASES: LeaseCounts = {
  shortestUs: null,
  ofKey: false,
  early: 0,
  firstEarly: null,
};

const count = z.int().min(0);

export const leasesSchema: z.ZodType<LeaseCounts> = z.strictObject({
  shortestUs: count.nullable(),
  ofKey: z.boolean(),
  early: count,
  firstEarly: z.strictObject({ seed: count, section: z.string() }).nullable(),
});

export function mergeLeases(a: LeaseCounts, b: LeaseCounts): LeaseCounts {
  const [one, other] = [a.shortestUs ?? Infinity, b.shortestUs ?? Infinity];
  const isFirst = one < other || (one === other && a.ofKey);
  const { shortestUs, ofKey } = isFirst ? a : b;
  const isEarlier = (a.firstEarly?.seed ?? Infinity) <= (b.firstEarly?.seed ?? Infinity);
  const { firstEarly } = isEarlier ? a : b;
  return { shortestUs, ofKey, early: a.early + b.early, firstEarly };
}

/** Adds the leases of one seed. */
export function addLeases(counts: Draft<LeaseCounts>, indexed: TraceIndex, seed: number): void {
  const note = (us: number, ofKey: boolean): void => {
    if (us < 0 || us >= (counts.shortestUs ?? Infinity)) return;
    counts.shortestUs = us;
    counts.ofKey = ofKey;
  };
  let early: string | null = null;
  for (const { grants } of indexed.locks.values()) {
    for (const grant of grants) {
      const { keys } = grant;
      // A separate command may set the expiry of a key.
      const end = keys?.ends.findLast(({ index }) => index < grant.index) ?? keys?.ends.at(0);
      if (keys === null && grant.event.untilUs !== null) note(grant.event.ttlUs, false);
      if (keys !== null && end !== undefined && end.untilUs !== Number.POSITIVE_INFINITY) {
        // A Redis key still exists during its last millisecond.
        note(Math.ceil((end.untilUs - end.change.event.atUs) / 1000 - 1) * 1000, true);
      }
      early ??= earlySection(indexed, grant);
    }
  }
  if (early === null) return;
  counts.early += 1;
  counts.firstEarly ??= { seed, section: early };
}

/** Returns the section of a grant if it called `guard()` before it took its key, otherwise null. */
function earlySection({ trace, keyChanges }: TraceIndex, grant: GrantLog): string | null {
  const entry = trace.events[grant.enteredAt];
  const isClientGrant = grant.event.process === grant.event.client && grant.keys === null;
  if (!isClientGrant || entry?.kind !== 'enter') return null;
  const { section, lock, process } = entry;
  const isLate = keyChanges.some(({ event, index }) => {
    if (event.change !== 'taken' || !event.isDone || event.client !== process) return false;
    if (index < grant.index || sectionOf(event.message) !== section) return false;
    return isKeyOf(event, lock);
  });
  return isLate ? section : null;
}

/** Claims whose hazard is that a lease ends while its holder continues. */
const OF_LEASES: ReadonlySet<string> = new Set([
  'grant-order',
  'fence-monotone',
  'read-fence',
  'no-lost-update',
  'token-bound',
  'cross-key',
  'loss-noticed',
  'lease-conservative',
]);

const FIELDS = { pause: 'for', delay: 'by', partition: 'for' } as const;

/** Returns a hint if `claims` need a fault that outlasts a lease but none does, otherwise null. */
export function shortFaults(
  scenario: Scenario,
  system: SystemScenario,
  { shortestUs, ofKey }: LeaseCounts,
  claims: readonly string[],
): string | null {
  if (shortestUs === null || !claims.some((claim) => OF_LEASES.has(claim))) return null;
  const kinds = (['pause', 'delay', 'partition'] as const).flatMap((kind) => {
    const range = durationsOf(scenario.bounds, kind).at(-1);
    const isThere = scenario.faults.some((fault) => fault.kind === kind);
    return range === undefined || !isThere ? [] : [{ kind, range }];
  });
  const [longest] = kinds.sort((a, b) => b.range.maxUs - a.range.maxUs);
  if (longest === undefined || longest.range.maxUs >= shortestUs) return null;
  const { kind, range } = longest;
  const ttls = scenario.clients.map(({ settings }) => system.clients.ttl ?? settings.ttlUs);
  const pass = ofKey && !ttls.includes(shortestUs) ? 'pass `section.ttlMs`, or ' : '';
  // More than two leases, rounded to two digits.
  const digit = 10 ** Math.max(0, Math.floor(Math.log10(shortestUs)) - 1);
  const wantedUs = Math.ceil((shortestUs * 2.4) / digit) * digit;
  const length = `\`${FIELDS[kind]}: ${formatDuration(range.minUs)}..${formatDuration(wantedUs)}\``;
  const found = `no fault outlasts a ${ofKey ? 'key' : 'lease'} of ${proseDuration(shortestUs)}`;
  const remedy = `${pass}try ${length}`;
  return `${found}; the longest ${kind} is ${proseDuration(range.maxUs)}: ${remedy}`;
}

/** Returns a hint about `guard()` calls that came too early. Empty if there are none. */
export function earlyGuards({ early, firstEarly }: LeaseCounts): readonly string[] {
  if (firstEarly === null) return [];
  const { section, seed } = firstEarly;
  const where = `on ${countOf(early, 'seed')}, first ${section} of seed ${seed}`;
  return [`section.guard() was called before the key was set ${where}`];
}
