/**
 * Judges `read-fence`: the write of an older grant cannot change what a holder has read. An `open`
 * changes nothing and does not count as a write here.
 */
import { type Claim, defineClaim } from './claim.ts';
import { accessBreach } from './evidence.ts';
import { type AcquisitionOrder, REPORTED_ORDER } from './holders.ts';
import { inEveryOrder } from './leases.ts';
import type { AccessEvent, Numbered, PlaceLog } from './trace-index.ts';
import { allOf, inAll } from './verdict.ts';

export const readFence: Claim = defineClaim({
  name: 'read-fence',
  about: 'after a read under a grant, no write under an earlier grant is accepted',
  source: 'Hazelcast, FencedLock: a fence covers reads too',
  hazard: 'writes, accepted or refused, under a grant older than that of a served read',
  rules: ['write-after-read'],
  judge: (indexed) =>
    allOf(
      inAll(indexed.places, (place) => {
        const order = indexed.locks.get(place.resource)?.orders?.likeliest ?? REPORTED_ORDER;
        return { exercised: writesAfterReads(place, order).length };
      }),
      inEveryOrder(indexed, (place, order) => {
        const found = writesAfterReads(place, order).find(({ write }) => write.event.isAccepted);
        if (found === undefined) return null;
        const accesses = { 'later read': found.read, 'stale write': found.write };
        return accessBreach(indexed, 'write-after-read', accesses, { late: found.write });
      }),
    ),
});

/** A served read, and a later write, accepted or refused, under an older grant. */
interface WriteAfterRead {
  readonly read: Numbered<AccessEvent>;
  readonly write: Numbered<AccessEvent>;
}

function writesAfterReads(place: PlaceLog, order: AcquisitionOrder): readonly WriteAfterRead[] {
  const found: WriteAfterRead[] = [];
  let read: Numbered<AccessEvent> | null = null;
  let newest = 0;
  for (const access of place.accesses) {
    const { event } = access;
    if (event.under === 0) continue;
    const under = order(event.under);
    if (event.kind === 'read') {
      if (!event.isAccepted || under <= newest) continue;
      read = access;
      newest = under;
    } else if (event.value !== null && read !== null && under < newest) {
      found.push({ read, write: access });
    }
  }
  return found;
}
