/**
 * From which sweep a worker takes its next job: it goes round those that it can do, one job of each
 * in turn, so that they share the fleet. What it cannot do it is never given: it looks at the
 * records, loads each sweep once, and says why it leaves one to others, once to its user and once
 * to the sweep's coordinator. A job that it takes it holds under a lock, which is its own to renew.
 */
import {
  type AnyJob,
  leaveRefusal,
  type OpenedQueue,
  type OpenedWorker,
  type QueueConnection,
  readJob,
  refusalText,
  workQueueOf,
} from './connection.ts';
import type { OnceNoter } from './progress.ts';
import { sweepEntrySchema } from './sweep-queue.ts';
import { type LoadedSweep, type LoadOptions, loadSweep } from './sweep-record.ts';

export interface TakenJob {
  readonly sweepId: string;
  /** As its record was read last. */
  readonly loaded: Loaded;
  readonly held: HeldJob;
}

interface JobTakerParts {
  readonly connection: QueueConnection;
  readonly records: OpenedQueue;
  readonly options: LoadOptions;
  readonly timing: WorkerTiming;
  readonly noter: OnceNoter;
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
  private readonly parts: JobTakerParts;
  /** What the records said when they were read last, of all that there are. */
  private readonly known: Map<string, Known> = new Map();
  /** The next one to be asked is the first. */
  private open: OpenSweep[] = [];
  private lookAtMs = -Infinity;
  private tokens = 0;

  constructor(parts: JobTakerParts) {
    this.parts = parts;
  }

  /** Looks, now and then, which sweeps there are; whether it did. */
  async look(): Promise<boolean> {
    if (performance.now() < this.lookAtMs) return false;
    await this.readRecords();
    this.lookAtMs = performance.now() + this.parts.timing.lookMs;
    const gone = this.open.filter(({ id }) => !this.known.has(id));
    this.closeWhere(({ id }) => this.loaded(id) === null);
    for (const { id } of gone) void this.wipe(id).catch(() => {});
    const asked = new Set(this.open.map(({ id }) => id));
    const others = [...this.known.keys()].filter(
      (id) => !asked.has(id) && this.loaded(id) !== null,
    );
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
      const loaded = this.loaded(sweep.id);
      const held = loaded === null ? null : await this.ask(sweep);
      if (loaded !== null && held !== null) return { sweepId: sweep.id, loaded, held };
    }
    return null;
  }

  close(): void {
    this.closeWhere(() => true);
  }

  /** Null where no jobs of it are to be taken. */
  private loaded(id: string): Loaded | null {
    return this.known.get(id)?.loaded ?? null;
  }

  /** Reads records that are new, or were not read for long. */
  private async readRecords(): Promise<void> {
    const ids = await this.parts.records.getRanges(['waiting'], 0, MOST_RECORDS - 1, true);
    const there = new Set(ids);
    for (const id of this.known.keys()) if (!there.has(id)) this.known.delete(id);
    const nowMs = performance.now();
    const due = ids.filter((id) => (this.known.get(id)?.againAtMs ?? 0) <= nowMs);
    for (const id of due.slice(0, MOST_READ)) await this.read(id);
  }

  /** Reads a record now; null where its jobs are not to be done here. */
  async read(id: string): Promise<Loaded | null> {
    const { timing } = this.parts;
    const job = await readJob(this.parts.records, id);
    const entry = sweepEntrySchema.safeParse(typeof job === 'object' ? job.data : undefined);
    if (!entry.success || entry.data.state !== 'running') {
      return this.keep(id, null, timing.againMs);
    }
    const { sweep } = entry.data;
    const before = this.loaded(id);
    // What a sweep is follows from its id; only how it is cut may have changed.
    if (before !== null) return this.keep(id, { ...before, sweep }, timing.againMs);
    const loaded = await loadSweep(id, sweep, this.parts.options).catch(whyUnloadable);
    if (loaded.kind === 'loaded') return this.keep(id, loaded, timing.againMs);
    const refusal = refusalText(id, loaded.why);
    this.parts.noter.tell(refusal);
    if (this.known.get(id)?.refusal !== refusal) {
      await leaveRefusal(this.parts.records, id, refusal);
    }
    return this.keep(id, null, timing.refusedMs, refusal);
  }

  private keep(
    id: string,
    loaded: Loaded | null,
    forMs: number,
    refusal: string | null = null,
  ): Loaded | null {
    this.known.set(id, { loaded, refusal, againAtMs: performance.now() + forMs });
    return loaded;
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
      this.parts.noter.tell(`sweep ${sweep.id}: no job can be taken: ${error.message}`);
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
    for (const { id } of ended) this.putLast(id);
  }

  /** Lets all others that can be done come before it. */
  private putLast(id: string): void {
    const known = this.known.get(id);
    if (known === undefined) return;
    this.known.delete(id);
    this.known.set(id, known);
  }

  private closeWhere(isEnded: (sweep: OpenSweep) => boolean): void {
    for (const sweep of this.open.filter(isEnded)) {
      void sweep.worker.close(true).catch(() => {});
    }
    this.open = this.open.filter((sweep) => !isEnded(sweep));
  }
}

interface JobLock {
  readonly job: AnyJob;
  /** Under which it was taken; another one each time. */
  readonly token: string;
  /** Who does not renew for so long has lost the job to others. */
  readonly lockMs: number;
}

/**
 * A job that this worker holds under a lock: it renews the lock while the job is done, and knows
 * when it is lost, after which what comes of the job is no answer to it any more.
 */
export class HeldJob {
  readonly id: string;
  readonly data: unknown;
  /** Why it must not be done but given up, as the queue says; null where it may. */
  readonly whyGivenUp: string | null;
  private readonly lock: JobLock;
  private readonly timer: NodeJS.Timeout;
  private wasLost = false;

  /** Renews the lock until it is released. */
  constructor(lock: JobLock) {
    const { job, lockMs } = lock;
    this.lock = lock;
    this.id = job.id ?? '';
    this.data = job.data;
    this.whyGivenUp = job.deferredFailure ?? null;
    // Where the queue does not answer the lock may be held or not: it is asked again at the end.
    this.timer = setInterval(() => void this.renew().catch(() => {}), lockMs / 3);
  }

  /** Looks whether the lock is still held, and renews it. */
  async renew(): Promise<boolean> {
    const { job, token, lockMs } = this.lock;
    if (!this.wasLost) this.wasLost = (await job.extendLock(token, lockMs)) !== 1;
    return !this.wasLost;
  }

  /** Ends it with a result; false where the lock is lost, and nothing is done then. */
  async complete(result: object): Promise<boolean> {
    if (!(await this.renew())) return false;
    try {
      await this.lock.job.moveToCompleted(result, this.lock.token, false);
      return true;
    } catch (error) {
      if (await this.renew()) throw error;
      return false;
    }
  }

  /** Ends this attempt; the queue tries again, unless there were enough or the error forbids it. */
  async fail(error: Error): Promise<void> {
    if (!(await this.renew())) return;
    try {
      await this.lock.job.moveToFailed(error, this.lock.token, false);
    } catch (refused) {
      if (await this.renew()) throw refused;
    }
  }

  release(): void {
    clearInterval(this.timer);
  }
}

export type Loaded = Extract<LoadedSweep, { kind: 'loaded' }>;

/** What is known of a record; `loaded` is null where no jobs of it are to be taken. */
interface Known {
  readonly loaded: Loaded | null;
  /** What was said of why it is left to others; null where it is not. */
  readonly refusal: string | null;
  /** When it is read again. */
  readonly againAtMs: number;
}

const MOST_RECORDS = 1_000;
/** A look reads no more than so many records. */
const MOST_READ = 50;

function whyUnloadable(error: unknown): LoadedSweep {
  if (!(error instanceof Error)) throw error;
  return { kind: 'refused', why: `cannot be loaded here: ${error.message}` };
}

/** How long things take on a worker; people change none of it. */
export const WORKER_TIMING = {
  /** A worker that does not renew within this time has lost its job to another. */
  lockMs: 60_000,
  /** How often is looked for jobs whose worker is gone. */
  stalledMs: 30_000,
  /** So many times a job may lose its worker. */
  mostStalls: 10,
  /** How often is looked which sweeps there are. */
  lookMs: 1_000,
  /** How often the record of a sweep is read again, and that of one which is left to others. */
  againMs: 5_000,
  refusedMs: 30_000,
  /** A sweep that had no job for so long gives its place to another, where places are short. */
  placeMs: 5_000,
  /** How long to wait where no sweep had a job. */
  idleMs: 250,
  /** Until the next try where the queue refuses what it is asked. */
  retryMs: 5_000,
};

export type WorkerTiming = Readonly<typeof WORKER_TIMING>;
