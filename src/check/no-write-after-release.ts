/**
 * Judges `no-write-after-release`: after a client knows that its grant is released, the store
 * accepts no write under that grant.
 */
import { operationOf } from '../core/kernel/name.ts';
import { type Claim, defineClaim } from './claim.ts';
import { accessBreach } from './evidence.ts';
import type { Numbered, PlaceLog, TraceIndex } from './trace-index.ts';
import { inAll } from './verdict.ts';

export const noWriteAfterRelease: Claim = defineClaim({
  name: 'no-write-after-release',
  about: 'after a client knows that its grant is released, no write under it is applied',
  source: 'Burrows, Chubby (2006): lock-delay',
  hazard: 'writes, accepted or refused, handled after their client knew of the release',
  rules: ['write-after-release'],
  judge: (indexed) =>
    inAll(indexed.places, (place) => {
      const acknowledged = acknowledgedReleases(indexed, place);
      if (acknowledged.size === 0) return { exercised: 0 };
      return inAll(place.accesses, (access) => {
        const { event, index } = access;
        const answer = acknowledged.get(event.under);
        const isWrite = event.kind === 'write' && event.value !== null;
        if (!isWrite || answer === undefined || index < answer.index) return { exercised: 0 };
        if (!event.isAccepted) return { exercised: 1 };
        const shown = { late: access, others: { released: answer } };
        const accesses = { 'late write': access };
        const breach = accessBreach(indexed, 'write-after-release', accesses, shown);
        return { exercised: 1, breach };
      });
    }),
});

/**
 * Maps grant numbers to the return that acknowledged the release to the client. Omits grants
 * without a later write, so the map is usually empty.
 */
function acknowledgedReleases(
  indexed: TraceIndex,
  { resource, accesses }: PlaceLog,
): ReadonlyMap<number, Numbered<object>> {
  const acknowledged = new Map<number, Numbered<object>>();
  const lastWrites = new Map<number, number>();
  for (const { event, index } of accesses) {
    if (event.kind === 'write') lastWrites.set(event.under, index);
  }
  for (const { event, index } of indexed.locks.get(resource)?.entries ?? []) {
    if (event.kind !== 'release' || event.under === 0 || acknowledged.has(event.under)) continue;
    if (index > (lastWrites.get(event.under) ?? -1)) continue;
    const answer = indexed.operations.get(operationOf(event.message))?.return;
    if (answer?.event.outcome !== 'ok' || answer.event.answer?.kind !== 'released') continue;
    acknowledged.set(event.under, answer);
  }
  return acknowledged;
}
