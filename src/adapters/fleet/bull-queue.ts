/**
 * A coordinator's queue on BullMQ: one queue of records that no worker takes, and for each sweep
 * one of its jobs and one of its results that came too late.
 */
import type { JobsOptions } from 'bullmq';
import {
  type AnyJob,
  lateQueueOf,
  type OpenedQueue,
  openConnection,
  type QueueConnection,
  RECORDS,
  readJob,
  readRefusals,
  workQueueOf,
} from './connection.ts';
import type { QueueAddress } from './queue-url.ts';
import {
  type AddedJob,
  type EndedJob,
  type FailedJob,
  type ListedSweep,
  type QueueCounts,
  type SweepQueue,
  sweepEntrySchema,
  sweepProgressSchema,
  type Wanted,
} from './sweep-queue.ts';
import { type SweepRecord, sweepIdOf } from './sweep-record.ts';

/** Ids that are read at once. */
const PAGE = 1_000;
const MOST_RECORDS = 1_000;
const MOST_FAILED = 100;
const REMOVED_AT_ONCE = 1_000;
/** What nobody collects, since its coordinator never came back, goes after a week. */
const KEPT = { age: 7 * 24 * 3600 };
const JOB_OPTIONS: JobsOptions = {
  attempts: 5,
  backoff: { type: 'exponential', delay: 1_000 },
  removeOnComplete: KEPT,
  removeOnFail: KEPT,
};
/** Also what failed a day from now, by the clock of the worker that says so. */
const WHENEVER_MS = -24 * 3600 * 1000;

/** Connects, or rejects with what the connection says; later a queue that is away rejects. */
export async function openBullQueue(
  address: QueueAddress,
  onError: (error: Error) => void,
  note: (line: string) => void = () => {},
): Promise<SweepQueue> {
  const connection = await openConnection(address, { isPatient: false, onError });
  return new BullSweepQueue(connection, note);
}

type JobCounts = Omit<QueueCounts, 'workers'>;

class BullSweepQueue implements SweepQueue {
  private readonly connection: QueueConnection;
  private readonly note: (line: string) => void;
  private readonly records: OpenedQueue;
  private readonly opened: Map<string, OpenedQueue> = new Map();
  /** Late results that nobody can read and that could not be taken away either. */
  private readonly unreadable: Set<string> = new Set();

  constructor(connection: QueueConnection, note: (line: string) => void) {
    this.connection = connection;
    this.note = note;
    this.records = connection.queue(RECORDS);
  }

  async announce(id: string, sweep: SweepRecord): Promise<ListedSweep> {
    const known = await this.sweep(id);
    const work = this.work(id);
    // Whoever ended it before was interrupted.
    if (await work.isPaused()) await work.resume();
    if (known !== null) return known;
    await this.records.remove(id);
    await this.records.add('sweep', { sweep, state: 'running' }, { jobId: id });
    return { id, entry: { sweep, state: 'running' }, progress: null };
  }

  async sweep(id: string): Promise<ListedSweep | null> {
    return listed(await readJob(this.records, id));
  }

  async sweeps(): Promise<readonly ListedSweep[]> {
    const ids = await this.records.getRanges(['waiting'], 0, MOST_RECORDS - 1, true);
    const sweeps = await Promise.all(ids.map((id) => this.sweep(id)));
    return sweeps.flatMap((sweep) => sweep ?? []);
  }

  async setState(id: string, state: 'running' | 'stopped'): Promise<void> {
    const job = await readJob(this.records, id);
    const known = listed(job);
    if (known !== null && typeof job === 'object') await job.updateData({ ...known.entry, state });
  }

  async tell(id: string, progress: object): Promise<void> {
    await this.records.updateJobProgress(id, progress);
  }

  async end(id: string): Promise<void> {
    const [work, late] = [this.work(id), this.lates(id)];
    await work.obliterate({ force: true });
    await late.obliterate({ force: true });
    await this.records.remove(id);
    // Where the record is gone workers add nothing, but they may have just before.
    await late.obliterate({ force: true });
  }

  async add(jobs: readonly AddedJob[]): Promise<void> {
    const sweep = jobs[0]?.job.sweep;
    if (sweep === undefined) return;
    await this.work(sweep).addBulk(
      jobs.map(({ id, job }) => ({
        name: job.kind,
        data: job,
        opts: { ...JOB_OPTIONS, jobId: id, lifo: job.kind === 'shrink' },
      })),
    );
  }

  async ended(id: string, wanted: Wanted): Promise<readonly EndedJob[]> {
    return await jobsIn(this.work(id), 'completed', wanted, (jobId, job) => {
      return { id: jobId, returned: job === 'unreadable' ? null : job.returnvalue };
    });
  }

  async failed(id: string): Promise<readonly FailedJob[]> {
    const wanted = { atMost: MOST_FAILED, known: new Set<string>() };
    return await jobsIn(this.work(id), 'failed', wanted, (jobId, job) => {
      if (job === 'unreadable') return { id: jobId, why: 'it cannot be read' };
      return { id: jobId, why: job.failedReason ?? 'no reason given' };
    });
  }

  async late(id: string, { atMost, known }: Wanted): Promise<readonly EndedJob[]> {
    const others = this.unreadable.size === 0 ? known : new Set([...known, ...this.unreadable]);
    const wanted = { atMost, known: others };
    return await jobsIn(this.lates(id), 'waiting', wanted, async (jobId, job) => {
      if (job !== 'unreadable') return { id: jobId, returned: job.data };
      await this.discardLate(id, jobId);
      return null;
    });
  }

  async remove(id: string, jobIds: readonly string[]): Promise<void> {
    await removeFrom(this.work(id), jobIds);
  }

  async removeLate(id: string, jobIds: readonly string[]): Promise<void> {
    await removeFrom(this.lates(id), jobIds);
  }

  async clear(id: string): Promise<void> {
    const work = this.work(id);
    await work.drain(true);
    await work.clean(WHENEVER_MS, 0, 'failed');
  }

  async counts(id: string): Promise<QueueCounts> {
    const workers = this.work(id).getWorkersCount();
    const [jobs, count] = await Promise.all([this.jobsOf(id), workers]);
    return { ...jobs, workers: count };
  }

  async total(): Promise<QueueCounts> {
    const ids = await this.records.getRanges(['waiting'], 0, MOST_RECORDS - 1, true);
    const jobs = await Promise.all(ids.map((id) => this.jobsOf(id)));
    const sum = (part: keyof JobCounts): number => jobs.reduce((all, each) => all + each[part], 0);
    return {
      ...{ waiting: sum('waiting'), active: sum('active'), delayed: sum('delayed') },
      ...{ ended: sum('ended'), workers: await this.records.getWorkersCount() },
    };
  }

  async refusals(id: string): Promise<readonly string[]> {
    return await readRefusals(this.records, id);
  }

  async close(): Promise<void> {
    await Promise.all([this.records, ...this.opened.values()].map((queue) => queue.close()));
    await this.connection.close();
  }

  private async jobsOf(id: string): Promise<JobCounts> {
    const states = ['waiting', 'active', 'delayed', 'completed', 'failed'] as const;
    const counts = await this.work(id).getJobCounts(...states);
    const [waiting = 0, active = 0, delayed = 0, completed = 0, failed = 0] = states.map(
      (state) => counts[state],
    );
    return { waiting, active, delayed, ended: completed + failed };
  }

  private work(id: string): OpenedQueue {
    return this.open(workQueueOf(id));
  }

  private lates(id: string): OpenedQueue {
    return this.open(lateQueueOf(id));
  }

  private open(name: string): OpenedQueue {
    const queue = this.opened.get(name) ?? this.connection.queue(name);
    this.opened.set(name, queue);
    return queue;
  }

  private async discardLate(id: string, jobId: string): Promise<void> {
    this.unreadable.add(jobId);
    this.note(`a late result of ${id} cannot be read, and is not compared: ${jobId}`);
    await this.lates(id)
      .remove(jobId)
      .catch(() => {});
  }
}

/** What `told` makes of the jobs in one state; of one that is gone, or of null, nothing. */
async function jobsIn<Told>(
  queue: OpenedQueue,
  state: JobState,
  wanted: Wanted,
  told: (id: string, job: AnyJob | 'unreadable') => Told | null | Promise<Told | null>,
): Promise<readonly Told[]> {
  const ids = await idsIn(queue, state, wanted);
  const jobs = await Promise.all(
    ids.map(async (id) => {
      const job = await readJob(queue, id);
      return job === undefined ? null : await told(id, job);
    }),
  );
  return jobs.filter((one) => one !== null);
}

type JobState = 'completed' | 'failed' | 'waiting';

/** Ids of jobs in one state; what moves meanwhile is found next time. */
async function idsIn(
  queue: OpenedQueue,
  state: JobState,
  { atMost, known }: Wanted,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (let from = 0; found.length < atMost; from += PAGE) {
    const ids = await queue.getRanges([state], from, from + PAGE - 1, true);
    for (const id of ids) if (found.length < atMost && !known.has(id)) found.push(id);
    if (ids.length < PAGE) break;
  }
  return found;
}

async function removeFrom(queue: OpenedQueue, ids: readonly string[]): Promise<void> {
  for (let from = 0; from < ids.length; from += REMOVED_AT_ONCE) {
    const some = ids.slice(from, from + REMOVED_AT_ONCE);
    await Promise.all(some.map((id) => queue.remove(id)));
  }
}

/** Null where what is there is no record, or says that it is another sweep's. */
function listed(job: AnyJob | 'unreadable' | undefined): ListedSweep | null {
  if (typeof job !== 'object' || job.id === undefined) return null;
  const { id } = job;
  const entry = sweepEntrySchema.safeParse(job.data);
  if (!entry.success || sweepIdOf(entry.data.sweep) !== id) return null;
  const progress = sweepProgressSchema.safeParse(job.progress);
  return { id, entry: entry.data, progress: progress.success ? progress.data : null };
}
