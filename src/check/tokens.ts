/**
 * Judges whether the tokens of locks are unique, increase, survive renews, and are used only under
 * their own grant.
 */
import { type Claim, defineClaim } from './claim.ts';
import {
  accessBreach,
  breachShown,
  type Cause,
  causesIn,
  causesOfTaking,
  causesSince,
  reasonFor,
} from './evidence.ts';
import { REPORTED_ORDER } from './holders.ts';
import { takingUnder } from './lock-keys.ts';
import {
  type AccessEvent,
  type GrantLog,
  grantUnder,
  isStale,
  type LogEntry,
  type TraceIndex,
} from './trace-index.ts';
import { type Breach, inAll } from './verdict.ts';

const AGAIN = 'second and later grants of a lock with tokens';

export const tokensUnique: Claim = defineClaim({
  name: 'tokens-unique',
  about: 'no two grants share a token',
  source: 'Kleppmann, How to do distributed locking (2016)',
  hazard: AGAIN,
  rules: ['token-shared'],
  judge: (indexed) =>
    inAll(grantsWithTokens(indexed), (grants) => {
      const byToken = new Map<number, GrantLog>();
      let breach: Breach<'token-shared'> | null = null;
      for (const later of grants) {
        const earlier = byToken.get(later.event.token);
        if (earlier === undefined) byToken.set(later.event.token, later);
        else breach ??= breachBetween(indexed, 'token-shared', { earlier, later });
      }
      return { exercised: Math.max(0, grants.length - 1), breach };
    }),
});

/** Compares two grants only if one was certainly acquired before the other. */
export const tokensIncrease: Claim = defineClaim({
  name: 'tokens-increase',
  about: 'tokens strictly increase in the order of the grants',
  source: 'Kleppmann (2016); Burrows, Chubby (2006): lock generation',
  hazard: AGAIN,
  rules: ['token-not-higher'],
  judge: (indexed) =>
    inAll(grantsWithTokens(indexed), (grants) => {
      let exercised = 0;
      let breach: Breach<'token-not-higher'> | null = null;
      const ended = [...grants].sort(({ between: [, one] }, { between: [, two] }) => one - two);
      const begun = [...grants].sort(({ between: [one] }, { between: [two] }) => one - two);
      let highest: GrantLog | null = null;
      let next = 0;
      for (const later of begun) {
        for (let earlier = ended[next]; earlier !== undefined; earlier = ended[next]) {
          if (earlier.between[1] >= later.between[0]) break;
          if (highest === null || earlier.event.token > highest.event.token) highest = earlier;
          next += 1;
        }
        if (highest === null) continue;
        exercised += 1;
        if (later.event.token > highest.event.token) continue;
        breach ??= breachBetween(indexed, 'token-not-higher', { earlier: highest, later });
      }
      return { exercised, breach };
    }),
});

/** Requires that a holder's writes before and after a renew carry the same token. */
export const tokenStable: Claim = defineClaim({
  name: 'token-stable',
  about: 'a renew keeps the token',
  source: 'Burrows, Chubby (2006): one sequencer per acquisition',
  hazard: 'renews that extended a grant',
  rules: ['token-changed'],
  judge: ({ locks }) =>
    inAll(locks.values(), ({ grants }) =>
      inAll(grants, (grant) =>
        inAll(grant.changes, (renewal) => {
          const { event } = renewal;
          if (event.kind !== 'renew') return { exercised: 0 };
          if (event.token === grant.event.token) return { exercised: 1 };
          return { exercised: 1, breach: breachShown('token-changed', { grant, renewal }) };
        }),
      ),
    ),
});

/**
 * Requires every write, accepted or refused, to carry the token of its own grant or of a renew of
 * that grant. A missing token is a breach. The hazard arises only once the lock is granted again,
 * since before that there is no newer token to carry by mistake.
 */
export const tokenBound: Claim = defineClaim({
  name: 'token-bound',
  about: 'a write carries the token of its own acquisition',
  source: 'Burrows, Chubby (2006): the sequencer belongs to the acquisition',
  hazard: 'writes sent after their lock had been granted again',
  rules: ['token-foreign'],
  judge: (indexed) =>
    inAll(indexed.places, (place) =>
      inAll(place.accesses, (access) => {
        const grant = grantUnder(indexed, access.event);
        if (access.event.kind !== 'write' || grant === undefined) return { exercised: 0 };
        const exercised = leftAfterSuccessor(indexed, access) ? 1 : 0;
        const { token, client } = access.event;
        const isTokenOfGrant =
          token === grant.event.token
            ? client === grant.event.client
            : grant.changes.some(({ event }) => event.kind === 'renew' && event.token === token);
        if (isTokenOfGrant) return { exercised };
        const others = { 'other grant': tokenDonor(indexed, access) };
        const shown = { late: access, others };
        const breach = accessBreach(indexed, 'token-foreign', { write: access }, shown);
        return { exercised, breach };
      }),
    ),
});

/**
 * Returns the grants of each lock that has tokens, in the order of acquisition. Omits grants that
 * reuse an earlier section's keys, since they rightly have the same token.
 */
function grantsWithTokens(indexed: TraceIndex): readonly (readonly GrantLog[])[] {
  return [...indexed.locks.values()].flatMap(({ grants }) => {
    if (grants.every(({ event }) => event.token === 0)) return [];
    return [inOrder(grants.filter(({ keys }) => keys?.isReused !== true))];
  });
}

function inOrder(grants: readonly GrantLog[]): readonly GrantLog[] {
  const [first] = grants;
  if (first === undefined || first.order === REPORTED_ORDER) return grants;
  return [...grants].sort(
    (one, other) => first.order(one.event.ordinal) - first.order(other.event.ordinal),
  );
}

interface Pair {
  readonly earlier: GrantLog;
  readonly later: GrantLog;
}

function breachBetween<Rule extends string>(
  indexed: TraceIndex,
  rule: Rule,
  { earlier, later }: Pair,
): Breach<Rule> {
  const why = reasonFor(indexed, earlier, later);
  const [first, second] = [takingUnder(earlier), takingUnder(later)];
  const takings = first && second && { 'earlier taking': first, 'later taking': second };
  const parts = { 'earlier grant': earlier, why, 'later grant': later, ...takings };
  return breachShown(rule, parts, causesBetween(indexed, { earlier, later }));
}

/** Returns the faults that affected either client until both had their tokens. */
function causesBetween(indexed: TraceIndex, { earlier, later }: Pair): readonly Cause[] {
  const taking = takingUnder(earlier);
  if (taking === null) {
    return [
      ...causesSince(indexed, earlier, later),
      ...causesOfTaking(indexed, { earlier, later }),
    ];
  }
  const { client, process, message, atUs } = taking.event;
  const processes = [client, later.event.client, process];
  const before = Math.max(earlier.index, later.index);
  return causesIn(indexed, { processes, message, fromUs: atUs, before });
}

function leftAfterSuccessor(indexed: TraceIndex, access: LogEntry<AccessEvent>): boolean {
  if (!isStale(access)) return false;
  const { event, index } = access;
  const departure = indexed.operations.get(event.operation)?.invoke.index ?? index;
  const grants = indexed.locks.get(event.resource)?.grants ?? [];
  return grants.some(
    ({ order, event: { ordinal }, between: [, acquired] }) =>
      order(ordinal) > order(event.under) && acquired < departure,
  );
}

function tokenDonor(
  indexed: TraceIndex,
  { event, index }: LogEntry<AccessEvent>,
): GrantLog | undefined {
  const lock = indexed.locks.get(event.resource);
  return lock?.grants.findLast((grant) => grant.index < index && grant.event.token === event.token);
}
