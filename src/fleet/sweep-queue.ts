/**
 * What a coordinator needs of a queue. Everything here may be repeated without harm: that is how it
 * survives a queue, or a coordinator, that goes away in the middle.
 */
import type { ChunkJob, ShrinkJob, SweepEntry, SweepProgress } from './jobs.ts';
import type { SweepRecord } from './sweep-record.ts';

/** A job that ended, as the queue tells it; what it says is checked by whoever reads it. */
export interface EndedJob {
  readonly id: string;
  /** What the worker returned. */
  readonly returned: unknown;
}

/** A job that was given up: tried, or lost by workers, too often. */
export interface FailedJob {
  readonly id: string;
  readonly why: string;
}

/** Jobs of all sweeps on the queue, and the workers that are connected. */
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

export interface SweepQueue {
  /** Adds a record where there is none, and gives the one that is there now. */
  announce(id: string, sweep: SweepRecord): Promise<ListedSweep>;
  /** Null where there is no record that can be read. */
  sweep(id: string): Promise<ListedSweep | null>;
  sweeps(): Promise<readonly ListedSweep[]>;
  setState(id: string, state: SweepEntry['state']): Promise<void>;
  tell(id: string, progress: SweepProgress): Promise<void>;
  /** Takes the record away. */
  forget(id: string): Promise<void>;
  /** Adds jobs; one whose id is there already is left as it is. */
  add(jobs: readonly AddedJob[]): Promise<void>;
  /** Jobs of this sweep that ended, at most so many, `known` left out. */
  ended(
    id: string,
    options: { readonly atMost: number; readonly known: ReadonlySet<string> },
  ): Promise<readonly EndedJob[]>;
  /** Jobs of this sweep that were given up. */
  failed(id: string): Promise<readonly FailedJob[]>;
  /** Results that workers had after their job was given to another. */
  late(id: string): Promise<readonly EndedJob[]>;
  /** Takes jobs off the queue, whatever became of them; one that a worker holds stays. */
  remove(ids: readonly string[]): Promise<void>;
  /** Takes every job of a sweep off the queue that no worker holds and that has no result. */
  clear(id: string): Promise<void>;
  removeLate(ids: readonly string[]): Promise<void>;
  counts(): Promise<QueueCounts>;
  close(): Promise<void>;
}

export interface AddedJob {
  readonly id: string;
  readonly job: ChunkJob | ShrinkJob;
}
