/**
 * Decides what the lock service itself held of a grant at a given event: its end, and its release.
 */
import type { GrantLog, LockLog } from './survey.ts';

/** True time at which the service ends the lease, from what it handled before event `before`. */
export function serviceEndUs(grant: GrantLog, before: number): number {
  let untilUs = grant.event.untilUs;
  for (const { event, index } of grant.changes) {
    if (index >= before) break;
    if (event.kind === 'renew') untilUs = event.untilUs;
  }
  return untilUs ?? Number.POSITIVE_INFINITY;
}

/**
 * The same, but no later than the grant by which the service gave the lock to another client: the
 * end that it named counts only as long as its clock runs as it did then.
 */
export function actualEndUs(lock: LockLog, grant: GrantLog, before: number): number {
  const endUs = serviceEndUs(grant, before);
  const next = lock.grants.find(({ index }) => index > grant.index && index < before);
  if (next === undefined || next.event.client === grant.event.client) return endUs;
  return isReleasedBefore(grant, next.index) ? endUs : Math.min(endUs, next.event.atUs);
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
