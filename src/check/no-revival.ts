/**
 * Judges `no-revival`: a renewal never brings back a lease that had ended, by its expiry, by a
 * release, or by a decision of its server. `renew-live` allows a late renewal of an expired lease
 * that no other client has taken; this claim does not, as another client may have held the lock in
 * between. It says nothing about a renewal that extends the lease of another client.
 *
 * A key of a Redis node is brought back if the section that held it takes it again while it is
 * inside, or later by a request that differs from those by which it took the key before.
 */
import type { KeyChange, Renew } from '../core/history/events.ts';
import { sectionOf } from '../core/kernel/name.ts';
import { type Claim, defineClaim } from './claim.ts';
import { breachShown } from './evidence.ts';
import { isHeldAt, isReleasedBefore } from './leases.ts';
import { changesOfLocks } from './lock-keys.ts';
import type { GrantLog, Numbered, TraceIndex } from './trace-index.ts';
import { allOf, type Findings, inAll } from './verdict.ts';

export const noRevival: Claim = defineClaim({
  name: 'no-revival',
  about: 'a renewal never brings back a lease that had ended',
  source: 'etcd, lease keep-alive: an expired lease is not found',
  hazard: 'renewals handled after the lease that they name had ended',
  isMeasured: true,
  rules: ['revived-lease'],
  judge: (indexed) => allOf(judgeRenewals(indexed), judgeKeys(indexed)),
});

type Rule = 'revived-lease';

function judgeRenewals(indexed: TraceIndex): Findings<Rule> {
  return inAll(indexed.locks.values(), (lock) =>
    inAll(lock.entries, ({ event, index }) => {
      // A renewal that its program reports shows nothing about its server.
      if (event.kind !== 'renew' || event.process === event.client) return { exercised: 0 };
      if (!hasEnded(indexed, lock.byNumber.get(event.under), { event, index })) {
        return { exercised: 0 };
      }
      const revived = lock.byNumber.get(event.extended);
      if (revived === undefined || !hasEnded(indexed, revived, { event, index })) {
        return { exercised: 1 };
      }
      const last = revived.changes.findLast((change) => change.index < index);
      const role = last?.event.kind === 'release' ? 'release' : 'last renewal';
      const parts = { grant: revived, [role]: last, renewal: { index } };
      return { exercised: 1, breach: breachShown('revived-lease', parts) };
    }),
  );
}

/**
 * Returns true if the lease certainly had ended before the renewal. A change of the server's clock
 * may have moved an expiry.
 */
function hasEnded(
  { faults }: TraceIndex,
  grant: GrantLog | undefined,
  { event, index }: Numbered<Renew>,
): grant is GrantLog {
  if (grant === undefined || isHeldAt(grant, { index, atUs: event.atUs })) return false;
  const isMoved = faults.some(
    (fault) =>
      fault.index < index &&
      fault.event.fault === 'clock' &&
      fault.event.processes.includes(event.process),
  );
  return !isMoved || isReleasedBefore(grant, index);
}

function judgeKeys(indexed: TraceIndex): Findings<Rule> {
  const { keyChanges, locks } = indexed;
  if (keyChanges.length === 0) return { exercised: 0 };
  const grants = [...locks.values()].flatMap((lock) => lock.grants);
  return inAll(changesOfLocks(indexed), ({ event, index }) => {
    if (event.change === 'prolonged') {
      return { exercised: event.meant !== '' && event.meant !== event.taking ? 1 : 0 };
    }
    if (event.change !== 'taken' || !event.isDone) return { exercised: 0 };
    const grant = grants.findLast((one) => isTakenAgain(indexed, one, { event, index }));
    if (grant === undefined) return { exercised: 0 };
    const [taking] = grant.keys?.takings ?? [];
    const ended = grant.keys?.ends.findLast((end) => end.index < index)?.change;
    const parts = { grant, 'own taking': taking, 'key end': ended, renewal: { index } };
    return { exercised: 1, breach: breachShown('revived-lease', parts) };
  });
}

/** Returns true if a section takes the key of its grant again, whose lease had ended. */
function isTakenAgain(
  indexed: TraceIndex,
  grant: GrantLog,
  { event, index }: Numbered<KeyChange>,
): boolean {
  const taking = grant.keys?.takings.find(
    (one) => one.event.key === event.key && one.event.process === event.process,
  );
  if (taking === undefined || taking.index >= index || indexed.byTaking.has(event.message)) {
    return false;
  }
  if (sectionOf(taking.event.message) !== sectionOf(event.message)) return false;
  if (grant.enteredAt < 0 || grant.enteredAt > index) return false;
  if (isHeldAt(grant, { index, atUs: event.atUs })) return false;
  const isInside = grant.leftAt < 0 || grant.leftAt > index;
  return isInside || bodyOf(indexed, event.message) !== bodyOf(indexed, taking.event.message);
}

function bodyOf({ trace }: TraceIndex, message: string): string {
  const sent = trace.events.find((event) => event.kind === 'send' && event.message === message);
  return sent?.kind === 'send' ? JSON.stringify(sent.body) : '';
}
