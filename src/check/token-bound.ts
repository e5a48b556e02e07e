/**
 * Judges `token-bound`: every write that a store handled, accepted or refused, carries the token
 * that its own grant brought (or that a renew of that grant did). A missing token is not that
 * token.
 *
 * Exercised: writes that left their client when its lock had already been granted anew, so that a
 * newer token was there to be borrowed.
 */
import { accessBreach } from './access-breach.ts';
import { type Breach, conclude } from './conclude.ts';
import {
  type Access,
  type Entry,
  type GrantLog,
  grantUnder,
  isStale,
  type Survey,
} from './survey.ts';
import type { Verdict } from './verdict.ts';

/** "A write carries the token of *that* acquisition by *that* client, not one fetched later." */
export function tokenBound(survey: Survey): Verdict {
  let exercised = 0;
  let breach: Breach | null = null;
  for (const place of survey.places) {
    for (const access of place.accesses) {
      if (access.event.kind !== 'write') continue;
      const grant = grantUnder(survey, access.event);
      if (grant === undefined) continue;
      if (leftAfterSuccessor(survey, access)) exercised++;
      if (carriesTokenOf(grant, access)) continue;
      const donor = tokenDonor(survey, access);
      breach ??= accessBreach(survey, 'token-foreign', {
        accesses: [['write', access]],
        late: access,
        others: [['other grant', donor]],
      });
    }
  }
  return conclude('token-bound', { exercised, breach });
}

function leftAfterSuccessor(survey: Survey, access: Entry<Access>): boolean {
  if (!isStale(access)) return false;
  const { event, index } = access;
  const departure = survey.operations.get(event.operation)?.invoke.index ?? index;
  const grants = survey.locks.get(event.resource)?.grants ?? [];
  const successor = grants.find((grant) => grant.event.ordinal > event.under);
  return successor !== undefined && successor.index < departure;
}

function carriesTokenOf(grant: GrantLog, { event }: Entry<Access>): boolean {
  if (event.token === grant.event.token) return event.client === grant.event.client;
  return grant.changes.some(
    ({ event: change }) => change.kind === 'renew' && change.token === event.token,
  );
}

/** The grant whose token a write carries instead of its own. */
function tokenDonor(survey: Survey, { event, index }: Entry<Access>): GrantLog | undefined {
  const grants = survey.locks.get(event.resource)?.grants ?? [];
  return grants.findLast((grant) => grant.index < index && grant.event.token === event.token);
}
