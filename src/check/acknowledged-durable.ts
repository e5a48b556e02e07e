/**
 * Judges `acknowledged-durable` at each recovery of a store. For each key, the store must recover
 * with the last write that was acknowledged to its client, or with a later accepted write.
 */
import type { Recovered } from '../core/history/events.ts';
import { type Claim, defineClaim } from './claim.ts';
import { type EffectiveWrite, isEffective, recoveredValue } from './contents.ts';
import { accessBreach, causesIn } from './evidence.ts';
import {
  isAcknowledged,
  type KeyLog,
  type LogEntry,
  type Numbered,
  type PlaceLog,
  type TraceIndex,
} from './trace-index.ts';
import { type Breach, inAll } from './verdict.ts';

export const acknowledgedDurable: Claim = defineClaim({
  name: 'acknowledged-durable',
  about: 'an acknowledged write is never lost',
  source: 'durability (Härder and Reuter, 1983)',
  hazard: 'recoveries of a store with an acknowledged write, counted per key',
  needsNoLock: true,
  rules: ['lost-in-recovery'],
  judge: (indexed) =>
    inAll(indexed.places, (place) =>
      inAll(place.recoveries, (recovery) =>
        inAll(place.keys.values(), (key) => {
          const write = lastAcknowledged(indexed, key, recovery.index);
          if (write === null) return { exercised: 0 };
          if (survives({ place, key, write, recovery })) return { exercised: 1 };
          return { exercised: 1, breach: breachOf(indexed, { place, write, recovery }) };
        }),
      ),
    ),
});

type Rule = 'lost-in-recovery';

function lastAcknowledged(
  indexed: TraceIndex,
  key: KeyLog,
  before: number,
): LogEntry<EffectiveWrite> | null {
  for (let at = key.accesses.length - 1; at >= 0; at--) {
    const access = key.accesses[at];
    if (access === undefined || access.index >= before || !isEffective(access)) continue;
    const operation = indexed.operations.get(access.event.operation);
    if (operation === undefined || !isAcknowledged(operation)) continue;
    if ((operation.return?.index ?? before) < before) return access;
  }
  return null;
}

interface Survival {
  readonly place: PlaceLog;
  readonly key: KeyLog;
  readonly write: LogEntry<EffectiveWrite>;
  readonly recovery: Numbered<Recovered>;
}

/** Returns true if the store recovered with the write or a later one, or lost the write earlier. */
function survives({ place, key, write, recovery }: Survival): boolean {
  const value = recoveredValue(place, recovery.event, key.key);
  for (const access of key.accesses) {
    if (access.index < write.index || access.index >= recovery.index) continue;
    if (isEffective(access) && access.event.value === value) return true;
  }
  return place.recoveries.some(
    ({ event, index }) =>
      index > write.index &&
      index < recovery.index &&
      recoveredValue(place, event, key.key) !== write.event.value,
  );
}

function breachOf(
  indexed: TraceIndex,
  { place, write, recovery }: Omit<Survival, 'key'>,
): Breach<Rule> {
  const span = { processes: [place.store], message: '', fromUs: write.event.atUs };
  const acknowledgement = indexed.operations.get(write.event.operation)?.return;
  return accessBreach(
    indexed,
    'lost-in-recovery',
    { 'lost write': write },
    {
      others: { acknowledgement, recovery },
      causes: causesIn(indexed, { ...span, before: recovery.index }),
    },
  );
}
