/** How long things take on a worker; people change none of it. */

export interface WorkerTiming {
  /** A worker that does not renew within this time has lost its job to another. */
  readonly lockMs: number;
  /** How often is looked for jobs whose worker is gone. */
  readonly stalledMs: number;
  /** So many times a job may lose its worker. */
  readonly mostStalls: number;
  /** How often is looked which sweeps there are. */
  readonly lookMs: number;
  /** How often the record of a sweep is read again, and that of one which is left to others. */
  readonly againMs: number;
  readonly refusedMs: number;
  /** A sweep that had no job for so long gives its place to another, where places are short. */
  readonly placeMs: number;
  /** How long to wait where no sweep had a job. */
  readonly idleMs: number;
  /** Until the next try where the queue refuses what it is asked. */
  readonly retryMs: number;
}

export const WORKER_TIMING: WorkerTiming = {
  lockMs: 60_000,
  stalledMs: 30_000,
  mostStalls: 10,
  lookMs: 1_000,
  againMs: 5_000,
  refusedMs: 30_000,
  placeMs: 5_000,
  idleMs: 250,
  retryMs: 5_000,
};
