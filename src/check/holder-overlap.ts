/**
 * Judges `holder-overlap`: no two programs believe at the same time that they hold a lock. No lease
 * can promise this if a process may pause, so it should be claimed only for runs without pauses,
 * partitions and wrong clocks. The overlaps are measured on every run.
 */
import type { Enter } from '../core/history/events.ts';
import { type Claim, defineClaim } from './claim.ts';
import { breachShown, causesSince } from './evidence.ts';
import { actorIn, type LockLog, type Numbered, type TraceIndex } from './trace-index.ts';
import { type Breach, inAll } from './verdict.ts';

export const holderOverlap: Claim = defineClaim({
  name: 'holder-overlap',
  about:
    'two programs never believe at once that they hold the lock (measured; no lease guarantees it)',
  source: 'Gray and Cheriton, Leases (1989)',
  hazard: 'entries under a lock that another program had entered before',
  isMeasured: true,
  rules: ['both-believe'],
  judge: (indexed) =>
    inAll(indexed.locks.values(), (lock) => {
      const [first] = overlapsOf(indexed, lock);
      const breach = first === undefined ? null : breachOf(indexed, lock, first);
      return { exercised: handovers(indexed, lock), breach };
    }),
});

function handovers(indexed: TraceIndex, { entries }: LockLog): number {
  let times = 0;
  const programs = new Set<string>();
  for (const { event } of entries) {
    if (event.kind !== 'enter') continue;
    programs.add(actorIn(indexed, event.process, event.section));
    if (programs.size > 1) times++;
  }
  return times;
}

function breachOf(
  indexed: TraceIndex,
  lock: LockLog,
  { earlier, later }: Overlap,
): Breach<'both-believe'> {
  const [grant, next] = [earlier, later].map(({ event }) => lock.byNumber.get(event.ordinal));
  return breachShown(
    'both-believe',
    { 'earlier entry': earlier, 'later entry': later, 'earlier grant': grant, 'later grant': next },
    grant === undefined ? [] : causesSince(indexed, grant, later),
  );
}

/** Number, longest duration and total duration of certain periods in a run, such as overlaps. */
export interface Lasted {
  readonly times: number;
  readonly longestUs: number;
  readonly totalUs: number;
}

export function lasted(lengthsUs: readonly number[]): Lasted {
  let longestUs = 0;
  let totalUs = 0;
  for (const us of lengthsUs) {
    longestUs = Math.max(longestUs, us);
    totalUs += us;
  }
  return { times: lengthsUs.length, longestUs, totalUs };
}

/** A period during which at least two programs believed that they held one lock. */
interface Overlap {
  readonly earlier: Numbered<Enter>;
  readonly later: Numbered<Enter>;
  readonly fromUs: number;
  readonly untilUs: number;
}

/**
 * Measures all overlaps of a run. A program believes that it holds the lock from the grant's
 * arrival until it leaves or crashes, or until the run ends.
 */
export function measureHolderOverlap(indexed: TraceIndex): Lasted {
  const overlaps = [...indexed.locks.values()].flatMap((lock) => overlapsOf(indexed, lock));
  return lasted(overlaps.map(({ fromUs, untilUs }) => untilUs - fromUs));
}

function overlapsOf(indexed: TraceIndex, lock: LockLog): readonly Overlap[] {
  const overlaps: Overlap[] = [];
  const believers = new Map<number, Numbered<Enter>>();
  let open: Omit<Overlap, 'untilUs'> | null = null;
  const leave = (ordinal: number, atUs: number): void => {
    believers.delete(ordinal);
    if (open === null || believers.size > 1) return;
    overlaps.push(ended(open, atUs));
    open = null;
  };
  for (const { event, index } of lock.entries) {
    if (event.kind === 'leave') leave(event.ordinal, event.atUs);
    if (event.kind !== 'enter') continue;
    const later = { event, index };
    believers.set(event.ordinal, later);
    const [earlier] = believers.values();
    if (believers.size === 2 && earlier !== undefined) {
      open ??= { earlier, later, fromUs: event.atUs };
    }
  }
  const endUs = indexed.trace.events.at(-1)?.atUs ?? 0;
  if (open !== null) overlaps.push(ended(open, endUs));
  return overlaps;
}

function ended({ earlier, later, fromUs }: Omit<Overlap, 'untilUs'>, untilUs: number): Overlap {
  return { earlier, later, fromUs, untilUs };
}
