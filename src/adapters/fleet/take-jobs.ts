/**
 * From which sweep a worker takes its next job: it goes round those that it can do, one job of each
 * in turn, so that they share the fleet. What it cannot do it is never given.
 */
import type { AnyJob, OpenedQueue, OpenedWorker, QueueConnection } from './connection.ts';
import { HeldJob } from './held-job.ts';
import { KnownSweeps, type Loaded } from './known-sweeps.ts';
import type { LoadOptions } from './loaded-sweeps.ts';
import { workQueueOf } from './queue-names.ts';
import type { Teller } from './reach.ts';
import type { WorkerTiming } from './worker-timing.ts';

export interface TakenJob {
  readonly sweepId: string;
  /** As its record was read last. */
  readonly loaded: Loaded;
  readonly held: HeldJob;
}

export interface JobTakerParts {
  readonly connection: QueueConnection;
  readonly records: OpenedQueue;
  readonly options: LoadOptions;
  readonly timing: WorkerTiming;
  readonly teller: Teller;
}

interface OpenSweep {
  readonly id: string;
  readonly worker: OpenedWorker;
  /** When it had a job, or was opened. */
  lastJobAtMs: number;
}

/** So many sweeps are asked for jobs; one that has none gives its place to others after a while. */
export const MOST_OPEN = 20;

export class JobTaker {
  readonly sweeps: KnownSweeps;
  private readonly parts: JobTakerParts;
  /** The next one to be asked is the first. */
  private open: OpenSweep[] = [];
  private lookAtMs = -Infinity;
  private tokens = 0;

  constructor(parts: JobTakerParts) {
    this.parts = parts;
    this.sweeps = new KnownSweeps(parts);
  }

  /** Looks, now and then, which sweeps there are; whether it did. */
  async look(): Promise<boolean> {
    if (performance.now() < this.lookAtMs) return false;
    await this.sweeps.look();
    this.lookAtMs = performance.now() + this.parts.timing.lookMs;
    const gone = this.open.filter(({ id }) => this.sweeps.isGone(id));
    this.closeWhere(({ id }) => this.sweeps.get(id) === null);
    for (const { id } of gone) void this.wipe(id).catch(() => {});
    const asked = new Set(this.open.map(({ id }) => id));
    const others = this.sweeps.ids().filter((id) => !asked.has(id));
    if (this.open.length + others.length > MOST_OPEN) this.makeRoom(others.length);
    for (const id of others.slice(0, MOST_OPEN - this.open.length)) this.openSweep(id);
    return true;
  }

  /** One job of the sweep whose turn it is; null where none has any. */
  async next(): Promise<TakenJob | null> {
    for (let turns = this.open.length; turns > 0; turns -= 1) {
      const sweep = this.open.shift();
      if (sweep === undefined) return null;
      this.open.push(sweep);
      const loaded = this.sweeps.get(sweep.id);
      const held = loaded === null ? null : await this.ask(sweep);
      if (loaded !== null && held !== null) return { sweepId: sweep.id, loaded, held };
    }
    return null;
  }

  close(): void {
    this.closeWhere(() => true);
  }

  private async ask(sweep: OpenSweep): Promise<HeldJob | null> {
    const { lockMs } = this.parts.timing;
    this.tokens += 1;
    const token = `${sweep.worker.id}:${this.tokens}`;
    let job: AnyJob | undefined;
    try {
      job = await sweep.worker.getNextJob(token, { block: false });
    } catch (error) {
      // One sweep's queue that is damaged keeps nobody from the others.
      if (!(error instanceof Error)) throw error;
      this.parts.teller.tell(`sweep ${sweep.id}: no job can be taken: ${error.message}`);
      return null;
    }
    if (job === undefined) return null;
    sweep.lastJobAtMs = performance.now();
    return new HeldJob({ job, token, lockMs });
  }

  /** Looking for lost jobs leaves traces on a queue, even on one that has just been taken away. */
  private async wipe(id: string): Promise<void> {
    const queue = this.parts.connection.queue(workQueueOf(id));
    try {
      const counts = await queue.getJobCounts();
      const isEmpty = Object.values(counts).every((jobs) => jobs === 0);
      if (isEmpty) await queue.obliterate({ force: true });
    } finally {
      await queue.close();
    }
  }

  private openSweep(id: string): void {
    const { connection, timing } = this.parts;
    const worker = connection.worker(workQueueOf(id), {
      lockDuration: timing.lockMs,
      stalledInterval: timing.stalledMs,
      maxStalledCount: timing.mostStalls,
    });
    void worker.startStalledCheckTimer();
    this.open.push({ id, worker, lastJobAtMs: performance.now() });
  }

  /** Closes sweeps without jobs for others that wait, those that had none for longest first. */
  private makeRoom(places: number): void {
    const idle = this.open
      .filter(({ lastJobAtMs }) => performance.now() - lastJobAtMs > this.parts.timing.placeMs)
      .sort((a, b) => a.lastJobAtMs - b.lastJobAtMs);
    const ended = new Set(idle.slice(0, places));
    this.closeWhere((sweep) => ended.has(sweep));
    for (const { id } of ended) this.sweeps.putLast(id);
  }

  private closeWhere(isEnded: (sweep: OpenSweep) => boolean): void {
    for (const sweep of this.open.filter(isEnded)) {
      void sweep.worker.close(true).catch(() => {});
    }
    this.open = this.open.filter((sweep) => !isEnded(sweep));
  }
}
