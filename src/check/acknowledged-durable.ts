/**
 * Judges `acknowledged-durable` whenever a store comes back: of each key it holds the last write
 * that its client knows to be accepted, or one that was accepted after that and not yet
 * acknowledged.
 *
 * Exercised: keys with an acknowledged write, at each recovery of their store.
 */

import type { Recovered } from '../core/history/server-events.ts';
import { accessBreach } from './access-breach.ts';
import { causesIn } from './causes.ts';
import { type Breach, conclude } from './conclude.ts';
import { type EffectiveWrite, isEffective, recoveredValue } from './contents.ts';
import {
  type Entry,
  isAcknowledged,
  type KeyLog,
  type Numbered,
  type Place,
  type Survey,
} from './survey.ts';
import type { Verdict } from './verdict.ts';

/** "An acknowledged success stays; a timeout is unknown, never 'did not happen'." */
export function acknowledgedDurable(survey: Survey): Verdict {
  let exercised = 0;
  let breach: Breach | null = null;
  for (const place of survey.places) {
    for (const recovery of place.recoveries) {
      for (const key of place.keys.values()) {
        const write = lastAcknowledged(survey, key, recovery.index);
        if (write === null) continue;
        exercised++;
        if (survives({ place, key, write, recovery })) continue;
        breach ??= breachOf(survey, { place, write, recovery });
      }
    }
  }
  return conclude('acknowledged-durable', { exercised, breach });
}

function lastAcknowledged(
  survey: Survey,
  key: KeyLog,
  before: number,
): Entry<EffectiveWrite> | null {
  for (let at = key.accesses.length - 1; at >= 0; at--) {
    const access = key.accesses[at];
    if (access === undefined || access.index >= before || !isEffective(access)) continue;
    const operation = survey.operations.get(access.event.operation);
    if (operation === undefined || !isAcknowledged(operation)) continue;
    if ((operation.return?.index ?? before) < before) return access;
  }
  return null;
}

interface Survival {
  readonly place: Place;
  readonly key: KeyLog;
  readonly write: Entry<EffectiveWrite>;
  readonly recovery: Numbered<Recovered>;
}

/**
 * Whether the write, or one after it, is what the store came back with; or was gone before that.
 */
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

function breachOf(survey: Survey, { place, write, recovery }: Omit<Survival, 'key'>): Breach {
  const span = { processes: [place.store], message: '', fromUs: write.event.atUs };
  return accessBreach(survey, 'lost-in-recovery', {
    accesses: [['lost write', write]],
    late: null,
    others: [
      ['acknowledgement', survey.operations.get(write.event.operation)?.return],
      ...causesIn(survey, { ...span, before: recovery.index }),
      ['recovery', recovery],
    ],
  });
}
