/**
 * What a coordinator needs of a queue. Everything here may be repeated without harm: that is how it
 * survives a queue, or a coordinator, that goes away in the middle. Each sweep has its own jobs.
 */
import type { ChunkJob, ShrinkJob, SweepEntry, SweepProgress } from './jobs.ts';
import type { SweepRecord } from './sweep-record.ts';

/** A job that ended, as the queue tells it; what it says is checked by whoever reads it. */
export interface EndedJob {
  readonly id: string;
  /** What the worker returned; null where it cannot be read. */
  readonly returned: unknown;
}

/** A job that was given up: tried, or lost by workers, too often. */
export interface FailedJob {
  readonly id: string;
  readonly why: string;
}

/** Jobs of a sweep, or of all; and the workers that take them. */
export interface QueueCounts {
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
  readonly ended: number;
  readonly workers: number;
}

/** A record on the queue, and what its coordinator last told; null where it told nothing yet. */
export interface ListedSweep {
  readonly id: string;
  readonly entry: SweepEntry;
  readonly progress: SweepProgress | null;
}

/** Which jobs are read: at most so many, and none of those that are known. */
export interface Wanted {
  readonly atMost: number;
  readonly known: ReadonlySet<string>;
}

export interface SweepQueue {
  /** Adds a record where there is none, and gives the one that is there now. */
  announce(id: string, sweep: SweepRecord): Promise<ListedSweep>;
  /** Null where there is no record that can be read. */
  sweep(id: string): Promise<ListedSweep | null>;
  sweeps(): Promise<readonly ListedSweep[]>;
  setState(id: string, state: SweepEntry['state']): Promise<void>;
  tell(id: string, progress: SweepProgress): Promise<void>;
  /** Takes off all there is of a sweep: its record, its jobs, also those at work, its results. */
  end(id: string): Promise<void>;
  /** Adds jobs of one sweep; one whose id is there already is left as it is. */
  add(jobs: readonly AddedJob[]): Promise<void>;
  /** Jobs of this sweep that ended. */
  ended(id: string, wanted: Wanted): Promise<readonly EndedJob[]>;
  /** Jobs of this sweep that were given up. */
  failed(id: string): Promise<readonly FailedJob[]>;
  /** Results that workers had after their job was given to another. */
  late(id: string, wanted: Wanted): Promise<readonly EndedJob[]>;
  /** Takes jobs off the queue, whatever became of them; one that a worker holds stays. */
  remove(id: string, jobIds: readonly string[]): Promise<void>;
  removeLate(id: string, jobIds: readonly string[]): Promise<void>;
  /** Takes every job of a sweep off the queue that no worker holds and that has no result. */
  clear(id: string): Promise<void>;
  /** Of one sweep: its jobs, and the workers that take them. */
  counts(id: string): Promise<QueueCounts>;
  /** Of all sweeps that have a record; all workers that are connected. */
  total(): Promise<QueueCounts>;
  /** What workers last said of why they leave the sweep to others: few lines, each once. */
  refusals(id: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface AddedJob {
  readonly id: string;
  readonly job: ChunkJob | ShrinkJob;
}
