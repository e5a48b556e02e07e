/**
 * Judges `renew-live`: a late renew neither extends another grant nor undoes a release. A renew is
 * late if its grant was released, or has expired by the service's own clock.
 */
import type { Renew } from '../core/history/events.ts';
import { type Claim, defineClaim } from './claim.ts';
import { breachShown } from './evidence.ts';
import { isHeldAt } from './leases.ts';
import { judgeKeys } from './lock-keys.ts';
import { nonOwnerBreach } from './owner-only-release.ts';
import type { LockLog, Numbered, TraceIndex } from './trace-index.ts';
import { allOf, type Breach, type Findings, inAll } from './verdict.ts';

export const renewLive: Claim = defineClaim({
  name: 'renew-live',
  about: 'a late renew neither extends another client’s grant nor undoes a release',
  source: 'redis.io, Distributed Locks: extend only what is one’s own',
  hazard: 'renews handled after the grant that they name had ended',
  rules: ['renewed-successor', 'undid-release', 'renewed-foreign-key'],
  judge: (indexed) =>
    allOf(judgeGrants(indexed), judgeKeys(indexed, { prolonged: 'renewed-foreign-key' })),
});

function judgeGrants(indexed: TraceIndex): Findings<'renewed-successor' | 'undid-release'> {
  return inAll(indexed.locks.values(), (lock) =>
    inAll(lock.entries, ({ event, index }) => {
      if (event.kind !== 'renew') return { exercised: 0 };
      const grant = lock.byNumber.get(event.under);
      const isInTime = grant !== undefined && isHeldAt(grant, { index, atUs: event.atUs });
      if (grant === undefined || isInTime) return { exercised: 0 };
      return { exercised: 1, breach: breachBy(indexed, lock, { event, index }) };
    }),
  );
}

/** Returns a breach if a late renew extended a released grant, or a grant that it did not name. */
function breachBy(
  indexed: TraceIndex,
  lock: LockLog,
  change: Numbered<Renew>,
): Breach<'renewed-successor' | 'undid-release'> | null {
  const { extended, under } = change.event;
  const touched = lock.byNumber.get(extended);
  if (touched === undefined) return null;
  if (extended !== under) {
    return nonOwnerBreach(indexed, 'renewed-successor', { lock, change, touched: extended });
  }
  const release = touched.changes.find(
    ({ event, index }) => event.kind === 'release' && index < change.index,
  );
  if (release === undefined) return null;
  return breachShown('undid-release', { grant: touched, release, renewal: change });
}
