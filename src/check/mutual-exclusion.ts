/**
 * Judges `mutual-exclusion` from the lock's perspective. A grant is live from its handling until
 * its ttl, minus the declared drift, has passed since its request departed. An effective renew
 * extends the grant in the same way. The grant ends earlier if its client releases it, or acquires
 * the lock again after the program has left. A grant from a quorum is live no longer than its
 * client counts on it. If the keys of a grant are known, the grant is live from the taking of the
 * keys, for as long as they were promised. Crashes, evictions, failovers, clock steps and another
 * holder's release do not end a grant.
 */
import type { Enter, Grant, KeyChange, LeaseTest, Release, Renew } from '../core/history/events.ts';
import { type Claim, defineClaim } from './claim.ts';
import { type Acquire, acquireBy, unnotedAcquires } from './contention.ts';
import {
  breachShown,
  type Cause,
  causesIn,
  causesOfTaking,
  causesSince,
  reasonFor,
} from './evidence.ts';
import { isQuorumGrant } from './holders.ts';
import { areRivals, isByNonOwner, promisedUntilUs } from './leases.ts';
import { isDenial, judgeKeys, takingUnder } from './lock-keys.ts';
import type { GrantLog, LockLog, Numbered, TraceIndex } from './trace-index.ts';
import { allOf, type Breach, type Findings, inAll } from './verdict.ts';

export const mutualExclusion: Claim = defineClaim({
  name: 'mutual-exclusion',
  about: 'no two grants of different acquisitions are live at once',
  source: 'Dijkstra (1965); for leases Gray and Cheriton (1989)',
  hazard: 'acquires handled while another holder’s grant was live, or its section open',
  rules: ['granted-while-live', 'revived-while-live', 'overwrote-key'],
  judge: (indexed, { driftPpm }) =>
    allOf<Rule | 'overwrote-key'>(
      inAll(indexed.locks.values(), (lock) => judgeLock(indexed, lock, driftPpm ?? 0)),
      judgeKeys(indexed, { overwritten: 'overwrote-key' }, ({ event, index }) => {
        const grants = indexed.byTaking.get(event.taking) ?? [];
        return grants.length > 0 && grants.every(({ leftAt }) => leftAt >= 0 && leftAt < index);
      }),
      { exercised: denialsWhileInside(indexed) },
    ),
});

/** Counts how often a client was denied a key whose holder was inside or entered later. */
function denialsWhileInside(indexed: TraceIndex): number {
  const isCounted = ({ event, index }: Numbered<KeyChange>): boolean => {
    const grants = indexed.byTaking.get(event.taking) ?? [];
    return grants.some(({ leftAt }) => leftAt < 0 || leftAt > index);
  };
  return indexed.keyChanges.filter((change) => isDenial(change.event) && isCounted(change)).length;
}

type Rule = 'granted-while-live' | 'revived-while-live';

/** A grant that was neither released nor superseded by its own client. */
interface LeaseHold {
  readonly grant: GrantLog;
  readonly renewal: Numbered<Renew> | null;
  /** Departure of the request from which `endUs` is counted. */
  readonly sentAtUs: number;
  readonly endUs: number;
  /** The first release by another client since the owner's last renewal. */
  readonly nonOwnerRelease: Numbered<Release> | null;
}

function judgeLock(indexed: TraceIndex, lock: LockLog, driftPpm: number): Findings<Rule> {
  let exercised = 0;
  let breach: Breach<Rule> | null = null;
  const holds = new Map<number, LeaseHold>();
  // Entries of sections that have not left yet, by grant number.
  const inside = new Map<number, Enter>();
  const count = (acquire: Acquire): void => {
    if (isAnotherIn(inside, acquire) || isHeldByAnother(holds, acquire)) exercised++;
  };
  const unnoted = unnotedAcquires(indexed, lock);
  let counted = 0;
  const countUnnoted = (before: number): void => {
    for (let at = unnoted[counted]; at !== undefined && at.index < before; at = unnoted[counted]) {
      count(at);
      counted += 1;
    }
  };
  const promised = (grant: GrantLog, before: number): number =>
    promisedUntilUs(indexed, grant, { before, driftPpm });
  for (const { event, index } of asAcquired(lock)) {
    countUnnoted(index);
    switch (event.kind) {
      case 'deny':
        count(acquireBy(event, index));
        break;
      case 'grant': {
        const grant = lock.byNumber.get(event.ordinal);
        if (grant === undefined) break;
        for (const { grant: held } of holds.values()) {
          if (!areRivals(held, grant)) holds.delete(held.event.ordinal);
        }
        const atUs = grant.keys?.acquired.event.atUs ?? event.atUs;
        const rival = liveAt(holds, { atUs, index, promised });
        if (rival === null) count({ ...acquireBy(event, index), atUs });
        else {
          exercised++;
          breach ??= breachBetween(indexed, 'granted-while-live', rival, { later: grant, index });
        }
        holds.set(event.ordinal, holdOf(grant, driftPpm));
        break;
      }
      case 'renew': {
        const hold = holds.get(event.extended);
        if (hold === undefined) break;
        const rival = liveAt(holds, { atUs: event.atUs, index, promised });
        // The hold itself is the rival if it was live all along. A program's renew revives no key.
        if (rival !== null && hold.grant.keys === null && isRevivedBy(hold, event, driftPpm)) {
          const later = { later: rival.grant, index, renewal: { event, index } };
          breach ??= breachBetween(indexed, 'revived-while-live', hold, later);
        }
        holds.set(event.extended, renewed(hold, { event, index }, driftPpm));
        break;
      }
      case 'enter':
        inside.set(event.ordinal, event);
        shorten(holds, event);
        break;
      case 'lease-test':
        shorten(holds, event);
        break;
      case 'leave':
        inside.delete(event.ordinal);
        break;
      case 'release':
        giveUp(holds, lock, { event, index });
    }
  }
  countUnnoted(indexed.trace.events.length);
  return { exercised, breach };
}

/** A grant with known keys ends with them, so its `endUs` is infinite. */
function holdOf(grant: GrantLog, driftPpm: number): LeaseHold {
  const { sentAtUs } = grant.event;
  const endUs = grant.keys === null ? endOf(grant.event, driftPpm) : Number.POSITIVE_INFINITY;
  const renewal = null;
  const nonOwnerRelease = null;
  return { grant, renewal, sentAtUs, endUs, nonOwnerRelease };
}

function isAnotherIn(
  inside: ReadonlyMap<number, Enter>,
  { client, section }: Pick<Acquire, 'client' | 'section'>,
): boolean {
  for (const entry of inside.values()) {
    if (entry.process !== client || entry.section !== section) return true;
  }
  return false;
}

function isHeldByAnother(
  holds: ReadonlyMap<number, LeaseHold>,
  { client, atUs }: Pick<Acquire, 'client' | 'atUs'>,
): boolean {
  for (const { grant, endUs } of holds.values()) {
    if (atUs < endUs && grant.event.client !== client) return true;
  }
  return false;
}

/** Moves each grant that a program reports to the event at which its client took the keys. */
function asAcquired({ entries, byNumber }: LockLog): LockLog['entries'] {
  const moved = entries.map((entry) => {
    const grant = entry.event.kind === 'grant' ? byNumber.get(entry.event.ordinal) : undefined;
    return grant?.keys ? { ...entry, index: grant.keys.acquired.index } : entry;
  });
  const isMoved = moved.some((entry, place) => entry !== entries[place]);
  return isMoved ? moved.sort((one, other) => one.index - other.index) : entries;
}

function liveAt(
  holds: ReadonlyMap<number, LeaseHold>,
  at: {
    readonly atUs: number;
    readonly index: number;
    readonly promised: (grant: GrantLog, before: number) => number;
  },
): LeaseHold | null {
  for (const hold of holds.values()) {
    if (at.atUs >= hold.endUs) continue;
    if (hold.grant.keys === null || at.atUs < at.promised(hold.grant, at.index)) return hold;
  }
  return null;
}

/**
 * Removes a hold that its own client released, even if the service denied the release. Another
 * client's release is only noted.
 */
function giveUp(holds: Map<number, LeaseHold>, lock: LockLog, release: Numbered<Release>): void {
  const { under, released } = release.event;
  holds.delete(under);
  const touched = holds.get(released);
  if (touched === undefined) return;
  if (!isByNonOwner(lock, release.event, touched.grant)) holds.delete(released);
  else if (touched.nonOwnerRelease === null) {
    holds.set(released, changed(touched, { nonOwnerRelease: release }));
  }
}

/** Ends a hold from a quorum at the time until which its client counts on it. */
function shorten(
  holds: Map<number, LeaseHold>,
  { ordinal, believedUntilUs }: Enter | LeaseTest,
): void {
  const hold = holds.get(ordinal);
  if (hold === undefined || !isQuorumGrant(hold.grant.event)) return;
  if (believedUntilUs >= hold.endUs) return;
  holds.set(ordinal, changed(hold, { endUs: believedUntilUs }));
}

/** Extends a hold. A renew that was sent before the last honored one never shortens the lease. */
function renewed(hold: LeaseHold, renewal: Numbered<Renew>, driftPpm: number): LeaseHold {
  const { sentAtUs, client } = renewal.event;
  const endUs = endOf(renewal.event, driftPpm);
  // A renewal by the owner re-creates what another client had released.
  const isByOwner = client === hold.grant.event.client;
  const nonOwnerRelease = isByOwner ? null : hold.nonOwnerRelease;
  if (sentAtUs < hold.sentAtUs) {
    return changed(hold, { endUs: Math.max(endUs, hold.endUs), nonOwnerRelease });
  }
  return changed(hold, { renewal, sentAtUs, endUs, nonOwnerRelease });
}

function isRevivedBy({ endUs }: LeaseHold, renewal: Renew, driftPpm: number): boolean {
  return endUs <= renewal.atUs && renewal.atUs < endOf(renewal, driftPpm);
}

/** Copies field by field for speed, since a lease may be extended often. */
function changed(hold: LeaseHold, change: Partial<LeaseHold>): LeaseHold {
  const { renewal = hold.renewal, sentAtUs = hold.sentAtUs } = change;
  const { endUs = hold.endUs, nonOwnerRelease = hold.nonOwnerRelease } = change;
  return { grant: hold.grant, renewal, sentAtUs, endUs, nonOwnerRelease };
}

function endOf({ sentAtUs, ttlUs, untilUs }: Grant | Renew, driftPpm: number): number {
  if (untilUs === null) return Number.POSITIVE_INFINITY;
  return sentAtUs + ttlUs - Math.floor((ttlUs * driftPpm) / 1_000_000);
}

function breachBetween(
  indexed: TraceIndex,
  rule: Rule,
  earlier: LeaseHold,
  at: {
    readonly later: GrantLog | undefined;
    readonly index: number;
    readonly renewal?: Numbered<Renew>;
  },
): Breach<Rule> {
  const { grant, nonOwnerRelease } = earlier;
  const before = at.later?.between[1] ?? at.index;
  // The change after which fewer than a majority of the servers kept the key.
  const keyEnd = grant.keys?.ends.find(({ index, untilUs, change: { event } }) => {
    if (event.change === 'taken' || event.change === 'prolonged') return false;
    return index < before && untilUs <= event.atUs;
  });
  const by = keyEnd?.change.event.client ?? '';
  const isByOther = by !== '' && by !== grant.event.client;
  const parts = {
    'earlier grant': grant,
    renewal: at.renewal ?? earlier.renewal,
    'foreign release': nonOwnerRelease ?? (isByOther ? keyEnd?.change : null),
    'key end': isByOther ? null : keyEnd?.change,
    why: reasonFor(indexed, grant, at.later),
    'later grant': at.later,
    taking: takingUnder(at.later),
  };
  return breachShown(rule, parts, [
    ...causesOfRelease(indexed, nonOwnerRelease),
    ...causesSince(indexed, grant, at),
    ...causesOfTaking(indexed, { earlier: grant, later: at.later }),
  ]);
}

function causesOfRelease(indexed: TraceIndex, release: Numbered<Release> | null): readonly Cause[] {
  if (release === null) return [];
  const { client, process, message, lock, under } = release.event;
  const fromUs = indexed.locks.get(lock)?.byNumber.get(under)?.event.sentAtUs ?? 0;
  const processes = [client, process];
  return causesIn(indexed, { processes, message, fromUs, before: release.index });
}
