/**
 * Judges `fence-monotone`, within one resource of one store, in the order in which the store
 * handled its writes. An `open` counts as a write: it is there to register its token. Writes under
 * no grant are out of scope; a write that carries no token (0) is judged by its ordinal alone.
 *
 * Exercised: writes, accepted or refused, under an older grant than one that had written there
 * before.
 */
import type { Write } from '../core/history/server-events.ts';
import { accessBreach, recoveriesBetween } from './access-breach.ts';
import { type Breach, conclude } from './conclude.ts';
import type { Numbered, Place, Survey } from './survey.ts';
import type { Verdict } from './verdict.ts';

/** "The ordinals, and the tokens, of accepted writes never decrease." */
export function fenceMonotone(survey: Survey): Verdict {
  let exercised = 0;
  let breach: Breach | null = null;
  for (const place of survey.places) {
    exercised += staleWrites(place);
    breach ??= breachAt(survey, place);
  }
  return conclude('fence-monotone', { exercised, breach });
}

function staleWrites(place: Place): number {
  let stale = 0;
  let highest = 0;
  for (const { event } of place.accesses) {
    if (event.kind !== 'write' || event.under === 0) continue;
    if (event.under < highest) stale++;
    else highest = event.under;
  }
  return stale;
}

function breachAt(survey: Survey, place: Place): Breach | null {
  let latest: Numbered<Write> | null = null;
  let highest: Numbered<Write> | null = null;
  for (const { event, index } of place.accesses) {
    if (event.kind !== 'write' || !event.isAccepted || event.under === 0) continue;
    const write = { event, index };
    if (latest !== null && event.under < latest.event.under) {
      return breachBetween(survey, 'stale-write', { place, earlier: latest, write });
    }
    if (highest !== null && event.token !== 0 && event.token < highest.event.token) {
      return breachBetween(survey, 'token-lower', { place, earlier: highest, write });
    }
    latest = write;
    if (highest === null || event.token > highest.event.token) highest = write;
  }
  return null;
}

function breachBetween(
  survey: Survey,
  rule: string,
  shown: {
    readonly place: Place;
    readonly earlier: Numbered<Write>;
    readonly write: Numbered<Write>;
  },
): Breach {
  const { place, earlier, write } = shown;
  return accessBreach(survey, rule, {
    accesses: [
      ['later write', earlier],
      ['stale write', write],
    ],
    late: write,
    others: recoveriesBetween(place, { after: earlier.index, before: write.index }),
  });
}
