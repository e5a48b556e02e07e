/**
 * Judges `read-fence`: what a holder has read cannot change under it by the write of an older
 * grant. An `open` changes nothing and is not a write here.
 *
 * Exercised: writes, accepted or refused, under an older grant than one whose read was served
 * there.
 */
import { accessBreach } from './access-breach.ts';
import { type Breach, conclude } from './conclude.ts';
import type { Access, Numbered, Survey } from './survey.ts';
import type { Verdict } from './verdict.ts';

/** "Once a read under grant g was served, no write of an earlier grant is accepted." */
export function readFence(survey: Survey): Verdict {
  let exercised = 0;
  let breach: Breach | null = null;
  for (const place of survey.places) {
    let latest: Numbered<Access> | null = null;
    for (const access of place.accesses) {
      const { event } = access;
      if (event.under === 0) continue;
      if (event.kind === 'read') {
        if (event.isAccepted && event.under > (latest?.event.under ?? 0)) latest = access;
        continue;
      }
      if (event.value === null || latest === null || event.under >= latest.event.under) continue;
      exercised++;
      if (!event.isAccepted) continue;
      breach ??= accessBreach(survey, 'write-after-read', {
        accesses: [
          ['later read', latest],
          ['stale write', access],
        ],
        late: access,
      });
    }
  }
  return conclude('read-fence', { exercised, breach });
}
