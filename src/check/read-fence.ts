/**
 * Judges `read-fence`: what a holder has read cannot change under it by the write of an older
 * grant. An `open` changes nothing and is not a write here.
 */
import { writeAfterRead } from './access-words.ts';
import { type Claim, defineClaim } from './claim.ts';
import { accessBreach } from './evidence.ts';
import type { AccessEvent, Numbered } from './trace-index.ts';
import { inAll } from './verdict.ts';

export const readFence: Claim = defineClaim({
  name: 'read-fence',
  about: 'once a read was served under a grant, no write of an earlier one is accepted',
  source: 'Hazelcast, FencedLock: a fence covers reads too',
  hazard: 'writes, accepted or refused, under an older grant than one whose read was served there',
  rules: { 'write-after-read': writeAfterRead },
  judge: (indexed) =>
    inAll(indexed.places, (place) => {
      let latest: Numbered<AccessEvent> | null = null;
      return inAll(place.accesses, (access) => {
        const { event } = access;
        if (event.under === 0) return { exercised: 0 };
        if (event.kind === 'read') {
          if (event.isAccepted && event.under > (latest?.event.under ?? 0)) latest = access;
          return { exercised: 0 };
        }
        const isStale = latest !== null && event.under < latest.event.under;
        if (event.value === null || !isStale) return { exercised: 0 };
        if (!event.isAccepted) return { exercised: 1 };
        const accesses = { 'later read': latest, 'stale write': access };
        const breach = accessBreach(indexed, 'write-after-read', accesses, { late: access });
        return { exercised: 1, breach };
      });
    }),
});
