/**
 * Judges `fence-monotone` within one resource of one store, in the order in which the store handled
 * its writes. An `open` counts as a write, because it registers its token. Writes under no grant
 * are ignored. A write without a token (0) is judged by its grant alone.
 */
import type { Write } from '../core/history/events.ts';
import { type Claim, defineClaim } from './claim.ts';
import { accessBreach, recoveriesBetween } from './evidence.ts';
import { type AcquisitionOrder, REPORTED_ORDER } from './holders.ts';
import { inEveryOrder } from './leases.ts';
import type { Numbered, PlaceLog, TraceIndex } from './trace-index.ts';
import { allOf, type Breach, inAll } from './verdict.ts';

export const fenceMonotone: Claim = defineClaim({
  name: 'fence-monotone',
  about: 'accepted writes never step back to an earlier grant or a lower token',
  source: 'Kleppmann, Designing Data-Intensive Applications, chapter 8',
  hazard: 'writes, accepted or refused, under a grant older than that of an earlier write',
  rules: ['stale-write', 'token-lower'],
  judge: (indexed) =>
    allOf(
      inAll(indexed.places, (place) => ({ exercised: staleWrites(indexed, place) })),
      inEveryOrder(indexed, (place, order) => breachAt(indexed, place, order)),
    ),
});

type Rule = 'stale-write' | 'token-lower';

function staleWrites({ locks }: TraceIndex, place: PlaceLog): number {
  const order = locks.get(place.resource)?.orders?.likeliest ?? REPORTED_ORDER;
  let stale = 0;
  let highest = 0;
  for (const { event } of place.accesses) {
    if (event.kind !== 'write' || event.under === 0) continue;
    const under = order(event.under);
    if (under < highest) stale++;
    else highest = under;
  }
  return stale;
}

function breachAt(
  indexed: TraceIndex,
  place: PlaceLog,
  order: AcquisitionOrder,
): Breach<Rule> | null {
  let latest: Numbered<Write> | null = null;
  let highest: Numbered<Write> | null = null;
  for (const { event, index } of place.accesses) {
    if (event.kind !== 'write' || !event.isAccepted || event.under === 0) continue;
    const write = { event, index };
    if (latest !== null && order(event.under) < order(latest.event.under)) {
      return breachBetween(indexed, 'stale-write', { place, earlier: latest, write });
    }
    if (highest !== null && event.token !== 0 && event.token < highest.event.token) {
      return breachBetween(indexed, 'token-lower', { place, earlier: highest, write });
    }
    latest = write;
    if (highest === null || event.token > highest.event.token) highest = write;
  }
  return null;
}

function breachBetween(
  indexed: TraceIndex,
  rule: Rule,
  shown: {
    readonly place: PlaceLog;
    readonly earlier: Numbered<Write>;
    readonly write: Numbered<Write>;
  },
): Breach<Rule> {
  const { place, earlier, write } = shown;
  const accesses = { 'later write': earlier, 'stale write': write };
  const recovery = recoveriesBetween(place, { after: earlier.index, before: write.index });
  return accessBreach(indexed, rule, accesses, { late: write, others: { recovery } });
}
