/**
 * Judges `renew-live`: when a renew comes too late, what it was to prolong is over.
 *
 * Exercised: renews handled after the grant that they mean had expired by the service's own clock,
 * or had been released.
 */
import { type Breach, conclude, evidenceOf } from './conclude.ts';
import { isHeldAt, isReleasedBefore } from './lease-end.ts';
import { foreignBreach } from './owner-only-release.ts';
import type { Survey } from './survey.ts';
import type { Verdict } from './verdict.ts';

/**
 * "A renew handled after expiry never extends someone else's grant, and never undoes a release."
 */
export function renewLive(survey: Survey): Verdict {
  let exercised = 0;
  let breach: Breach | null = null;
  for (const lock of survey.locks.values()) {
    for (const { event, index } of lock.entries) {
      if (event.kind !== 'renew') continue;
      const meant = lock.byOrdinal.get(event.under);
      if (meant === undefined || isHeldAt(meant, { index, atUs: event.atUs })) continue;
      exercised++;
      const touched = lock.byOrdinal.get(event.extended);
      if (touched === undefined) continue;
      if (touched !== meant) {
        const shown = { lock, change: { event, index }, touched: event.extended };
        breach ??= foreignBreach(survey, 'renewed-successor', shown);
      } else if (isReleasedBefore(touched, index)) {
        const release = touched.changes.findLast(
          (change) => change.event.kind === 'release' && change.index < index,
        );
        const evidence = evidenceOf([
          ['grant', touched],
          ['release', release],
          ['renewal', { index }],
        ]);
        breach ??= { rule: 'undid-release', evidence };
      }
    }
  }
  return conclude('renew-live', { exercised, breach });
}
