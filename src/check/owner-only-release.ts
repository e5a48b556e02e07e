/**
 * Judges `owner-only-release`: a release or a renew touches the acquisition that it names or none.
 *
 * Exercised: releases and renews that named a grant that was over: no longer the latest of its
 * lock, released, or expired by the service's own clock.
 */
import type { Release, Renew } from '../core/history/server-events.ts';
import { causesIn } from './causes.ts';
import { type Breach, conclude, evidenceOf } from './conclude.ts';
import { isHeldAt } from './lease-end.ts';
import type { Entry, LockLog, Numbered, Survey } from './survey.ts';
import type { Verdict } from './verdict.ts';

/** "A release or renew that does not name the current acquisition changes nothing." */
export function ownerOnlyRelease(survey: Survey): Verdict {
  let exercised = 0;
  let breach: Breach | null = null;
  for (const lock of survey.locks.values()) {
    for (const { event, index, latest } of lock.entries) {
      if (event.kind !== 'release' && event.kind !== 'renew') continue;
      // A client that is its own service only says so: what its servers did is not known.
      if (event.process === event.client) continue;
      const change = { event, index, latest };
      if (!namesCurrent(lock, change)) exercised++;
      const touched = event.kind === 'release' ? event.released : event.extended;
      if (touched === 0 || touched === event.under) continue;
      const rule = event.kind === 'release' ? 'foreign-release' : 'foreign-renewal';
      breach ??= foreignBreach(survey, rule, { lock, change, touched });
    }
  }
  return conclude('owner-only-release', { exercised, breach });
}

/** A change of grant `touched` by a message that meant another one, and what made it late. */
export function foreignBreach(
  survey: Survey,
  rule: string,
  shown: {
    readonly lock: LockLog;
    readonly change: Numbered<Release | Renew>;
    readonly touched: number;
  },
): Breach {
  const { lock, change, touched } = shown;
  const { client, message, process } = change.event;
  const meant = lock.byOrdinal.get(change.event.under);
  const fromUs = meant?.event.sentAtUs ?? 0;
  const span = { processes: [client, process], message, fromUs, before: change.index };
  return {
    rule,
    evidence: evidenceOf([
      ['grant meant', meant],
      ['grant touched', lock.byOrdinal.get(touched)],
      [change.event.kind === 'release' ? 'release' : 'renewal', change],
      ...causesIn(survey, span),
    ]),
  };
}

function namesCurrent(lock: LockLog, { event, index, latest }: Entry<Release | Renew>): boolean {
  const meant = lock.byOrdinal.get(event.under);
  if (meant === undefined || meant !== latest) return false;
  return isHeldAt(meant, { index, atUs: event.atUs });
}
