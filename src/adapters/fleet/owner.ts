/**
 * Which of several coordinators a sweep belongs to. Nothing that BullMQ offers here would
 * write a record only if it is still as it was read, so a coordinator that was paused may write what it decided long ago. Instead what it tells carries an epoch: who takes a sweep
 * over tells the one that is there plus one. Whoever reads a record of somebody ahead is replaced,
 * and whoever reads one of somebody behind tells its own again; so only the one that is ahead of
 * all stays.
 *
 * Until the others have noticed they do no harm, whatever they still write. Results are keyed by
 * chunk, and each coordinator counts a chunk once. A checkpoint only says what is counted in it;
 * if an older one replaces a newer one, or a result is taken off that another had not counted yet,
 * these chunks are missing from both the queue and the checkpoint, and are added again. So work may
 * be repeated, but nothing is miscounted.
 */
import type { SweepProgress } from './jobs.ts';

export type Owner = Pick<SweepProgress, 'coordinator' | 'epoch'>;

/** Whether `one` has taken the sweep over from `other`; of two of one epoch the ids decide. */
export function isAhead(one: Owner, other: Owner): boolean {
  if (one.epoch !== other.epoch) return one.epoch > other.epoch;
  return one.coordinator > other.coordinator;
}
