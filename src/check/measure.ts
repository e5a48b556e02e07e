/**
 * Measures what no lease can promise: how often, and how long, two programs believe that they hold
 * a lock.
 */
import type { Enter } from '../core/history/trace.ts';
import type { LockLog, Numbered, Survey } from './survey.ts';

/** Times at which at least two programs believed at once, over all locks. */
export interface HolderOverlap {
  readonly times: number;
  readonly longestUs: number;
  readonly totalUs: number;
}

/** A time during which at least two programs believed that they hold one lock. */
export interface Overlap {
  readonly earlier: Numbered<Enter>;
  readonly later: Numbered<Enter>;
  readonly fromUs: number;
  readonly untilUs: number;
}

/** From the grant that reaches a program until it leaves, as a crash makes it; up to the end. */
export function measureHolderOverlap(survey: Survey): HolderOverlap {
  let times = 0;
  let longestUs = 0;
  let totalUs = 0;
  for (const lock of survey.locks.values()) {
    for (const { fromUs, untilUs } of overlapsOf(survey, lock)) {
      times++;
      longestUs = Math.max(longestUs, untilUs - fromUs);
      totalUs += untilUs - fromUs;
    }
  }
  return { times, longestUs, totalUs };
}

/** The overlaps on one lock, in the order in which they ended. */
export function overlapsOf(survey: Survey, lock: LockLog): readonly Overlap[] {
  const overlaps: Overlap[] = [];
  const believers = new Map<string, Numbered<Enter>>();
  let open: Omit<Overlap, 'untilUs'> | null = null;
  const leave = (process: string, atUs: number): void => {
    believers.delete(process);
    if (open === null || believers.size > 1) return;
    overlaps.push({ ...open, untilUs: atUs });
    open = null;
  };
  for (const { event, index } of lock.entries) {
    if (event.kind === 'leave') leave(event.process, event.atUs);
    if (event.kind !== 'enter') continue;
    const later = { event, index };
    believers.set(event.process, later);
    const [earlier] = believers.values();
    if (believers.size === 2 && earlier !== undefined) {
      open ??= { earlier, later, fromUs: event.atUs };
    }
  }
  const endUs = survey.trace.events.at(-1)?.atUs ?? 0;
  if (open !== null) overlaps.push({ ...open, untilUs: endUs });
  return overlaps;
}
