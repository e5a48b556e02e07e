/**
 * Judges `owner-only-release`: a release or renew affects the acquisition that it names, or none. A
 * grant is over when it is no longer the latest of its lock, was released, or has expired by the
 * service's own clock. A client may withdraw an unanswered request: this ends a grant of its own,
 * although the client cannot name the grant. On a server that keeps keys, it is a breach to remove
 * or extend a lock key that another client has taken (`lock-keys.ts`).
 */
import type { Release, Renew } from '../core/history/events.ts';
import { type Claim, defineClaim } from './claim.ts';
import { breachShown, causesIn } from './evidence.ts';
import { isHeldAt } from './leases.ts';
import { judgeKeys } from './lock-keys.ts';
import { unansweredCall } from './no-orphan.ts';
import type { LockLog, Numbered, TraceIndex } from './trace-index.ts';
import { allOf, type Breach, type Findings, inAll } from './verdict.ts';

export const ownerOnlyRelease: Claim = defineClaim({
  name: 'owner-only-release',
  about: 'a release or renew that does not name the current grant changes nothing',
  source: 'redis.io, Distributed Locks: delete only what is one’s own',
  hazard: 'releases and renews that named an ended grant',
  rules: ['foreign-release', 'foreign-renewal', 'foreign-key-removal', 'foreign-key-renewal'],
  judge: (indexed) =>
    allOf(
      judgeGrants(indexed),
      judgeKeys(indexed, { removed: 'foreign-key-removal', prolonged: 'foreign-key-renewal' }),
    ),
});

function judgeGrants(indexed: TraceIndex): Findings<'foreign-release' | 'foreign-renewal'> {
  return inAll(indexed.locks.values(), (lock) =>
    inAll(lock.entries, ({ event, index, latest }) => {
      if (event.kind !== 'release' && event.kind !== 'renew') return { exercised: 0 };
      // The client of a quorum reports only its own actions; changes on its servers are unknown.
      if (event.process === event.client) return { exercised: 0 };
      if (event.kind === 'release' && endsOrphanOfClient(indexed, lock, event))
        return { exercised: 0 };
      const change = { event, index, latest };
      const meantGrant = lock.byNumber.get(event.under);
      const isCurrent = meantGrant !== undefined && meantGrant === latest;
      const exercised = isCurrent && isHeldAt(meantGrant, { index, atUs: event.atUs }) ? 0 : 1;
      const touched = event.kind === 'release' ? event.released : event.extended;
      if (touched === 0 || touched === event.under) return { exercised };
      const rule = event.kind === 'release' ? 'foreign-release' : 'foreign-renewal';
      return { exercised, breach: nonOwnerBreach(indexed, rule, { lock, change, touched }) };
    }),
  );
}

/** Returns true if the client withdrew a request that had been granted without its knowledge. */
function endsOrphanOfClient(
  indexed: TraceIndex,
  lock: LockLog,
  { client, under, released }: Release,
): boolean {
  const grant = under === 0 ? lock.byNumber.get(released) : undefined;
  return grant?.event.client === client && unansweredCall(indexed, grant) !== null;
}

/** Creates the breach for a message that named one grant but changed grant `touched`. */
export function nonOwnerBreach<Rule extends string>(
  indexed: TraceIndex,
  rule: Rule,
  shown: {
    readonly lock: LockLog;
    readonly change: Numbered<Release | Renew>;
    readonly touched: number;
  },
): Breach<Rule> {
  const { lock, change, touched } = shown;
  const { client, message, process } = change.event;
  const meantGrant = lock.byNumber.get(change.event.under);
  const fromUs = meantGrant?.event.sentAtUs ?? 0;
  const span = { processes: [client, process], message, fromUs, before: change.index };
  const parts = {
    'grant meant': meantGrant,
    'grant touched': lock.byNumber.get(touched),
    [change.event.kind === 'release' ? 'release' : 'renewal']: change,
  };
  return breachShown(rule, parts, causesIn(indexed, span));
}
