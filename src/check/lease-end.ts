/**
 * Decides what the lock service itself held of a grant at a given event: its end, and its release.
 */
import type { GrantLog } from './survey.ts';

/** True time at which the service ends the lease, from what it handled before event `before`. */
export function serviceEndUs(grant: GrantLog, before: number): number {
  let untilUs = grant.event.untilUs;
  for (const { event, index } of grant.changes) {
    if (index >= before) break;
    if (event.kind === 'renew') untilUs = event.untilUs;
  }
  return untilUs ?? Number.POSITIVE_INFINITY;
}

/** Whether the service had ended the grant, by a release handled before event `before`. */
export function isReleasedBefore(grant: GrantLog, before: number): boolean {
  for (const { event, index } of grant.changes) {
    if (index >= before) return false;
    if (event.kind === 'release') return true;
  }
  return false;
}

/** Whether the service still held the grant at event `before`, at true time `atUs`. */
export function isHeldAt(grant: GrantLog, at: { index: number; atUs: number }): boolean {
  return at.atUs < serviceEndUs(grant, at.index) && !isReleasedBefore(grant, at.index);
}
