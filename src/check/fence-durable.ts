/**
 * Judges `fence-durable`: after a crash or failover, a store still knows the highest token that it
 * accepted for a resource. Does not apply to stores that do not compare tokens.
 */
import { type Claim, defineClaim } from './claim.ts';
import { accessBreach, causesIn } from './evidence.ts';
import type { AccessEvent, Numbered, PlaceLog } from './trace-index.ts';
import { inAll } from './verdict.ts';

export const fenceDurable: Claim = defineClaim({
  name: 'fence-durable',
  about: 'the highest token of a store never decreases, not even across a restart',
  source: 'Kleppmann, Designing Data-Intensive Applications, chapter 8',
  hazard: 'recoveries of a store that had accepted a token above 0',
  rules: ['fence-forgotten'],
  judge: (indexed, { isFenced }) =>
    inAll(isFenced ? indexed.places : [], (place) =>
      inAll(place.recoveries, (recovery) => {
        const highest = highestBefore(place, recovery.index);
        if (highest === null) return { exercised: 0 };
        if (recovery.event.highest >= highest.event.token) return { exercised: 1 };
        const span = { processes: [place.store], message: '', fromUs: highest.event.atUs };
        const causes = causesIn(indexed, { ...span, before: recovery.index });
        const shown = { others: { recovery }, causes };
        const accesses = { 'highest write': highest };
        const breach = accessBreach(indexed, 'fence-forgotten', accesses, shown);
        return { exercised: 1, breach };
      }),
    ),
});

function highestBefore(place: PlaceLog, before: number): Numbered<AccessEvent> | null {
  let highest: Numbered<AccessEvent> | null = null;
  for (const access of place.accesses) {
    if (access.index >= before) break;
    const { event } = access;
    if (event.kind !== 'write' || !event.isAccepted) continue;
    if (event.token > (highest?.event.token ?? 0)) highest = access;
  }
  return highest;
}
