/**
 * A coordinator's queue on BullMQ: one queue of work for all sweeps, one of records that no worker
 * takes, and one of results that came too late.
 */
import type { Job, JobsOptions } from 'bullmq';
import { type Connection, type OpenedQueue, openConnection } from './connection.ts';
import { sweepEntrySchema, sweepProgressSchema } from './jobs.ts';
import { unpack } from './packed.ts';
import type { QueueAddress } from './queue-url.ts';
import type { AddedJob, EndedJob, ListedSweep, SweepQueue } from './sweep-queue.ts';
import { type SweepRecord, sweepIdOf } from './sweep-record.ts';

export { requireReachable } from './connection.ts';

/** The names of the queues. */
export const WORK = 'work';
export const RECORDS = 'sweeps';
export const LATE = 'late';

/** Ids read at once from a list that may hold jobs of other sweeps too. */
const PAGE = 10_000;
/** Jobs removed at once. */
const REMOVED_AT_ONCE = 1_000;
/** What nobody collects, since its coordinator never came back, goes after a week. */
const KEPT = { age: 7 * 24 * 3600 };
const JOB_OPTIONS: JobsOptions = {
  attempts: 5,
  backoff: { type: 'exponential', delay: 1_000 },
  removeOnComplete: KEPT,
  removeOnFail: KEPT,
};

/** Connects, or rejects with what the connection says; later a queue that is away rejects. */
export async function openBullQueue(
  address: QueueAddress,
  onError: (error: Error) => void,
): Promise<SweepQueue> {
  return new BullSweepQueue(await openConnection(address, { isPatient: false, onError }));
}

class BullSweepQueue implements SweepQueue {
  private readonly connection: Connection;
  private readonly work: OpenedQueue;
  private readonly records: OpenedQueue;
  private readonly lates: OpenedQueue;

  constructor(connection: Connection) {
    this.connection = connection;
    this.work = connection.queue(WORK);
    this.records = connection.queue(RECORDS);
    this.lates = connection.queue(LATE);
  }

  async announce(id: string, sweep: SweepRecord): Promise<ListedSweep> {
    const known = await this.sweep(id);
    if (known !== null) return known;
    await this.records.remove(id);
    await this.records.add('sweep', { sweep, state: 'running' }, { jobId: id });
    return { id, entry: { sweep, state: 'running' }, progress: null };
  }

  async sweep(id: string): Promise<ListedSweep | null> {
    return listed(await this.records.getJob(id));
  }

  async sweeps(): Promise<readonly ListedSweep[]> {
    const jobs = await this.records.getWaiting(0, 999);
    return jobs.flatMap((job) => listed(job) ?? []);
  }

  async setState(id: string, state: 'running' | 'stopped'): Promise<void> {
    const job = await this.records.getJob(id);
    const known = listed(job);
    if (job !== undefined && known !== null) await job.updateData({ ...known.entry, state });
  }

  async tell(id: string, progress: object): Promise<void> {
    await this.records.updateJobProgress(id, progress);
  }

  async forget(id: string): Promise<void> {
    await this.records.remove(id);
  }

  async add(jobs: readonly AddedJob[]): Promise<void> {
    await this.work.addBulk(
      jobs.map(({ id, job }) => ({
        name: job.kind,
        data: job,
        opts: { ...JOB_OPTIONS, jobId: id, lifo: job.kind === 'shrink' },
      })),
    );
  }

  async ended(
    id: string,
    { atMost, known }: { readonly atMost: number; readonly known: ReadonlySet<string> },
  ): Promise<readonly EndedJob[]> {
    const ids = await this.idsIn('completed', id, { atMost, known });
    const jobs = await Promise.all(ids.map((jobId) => this.work.getJob(jobId)));
    return jobs.flatMap((job) =>
      job?.id === undefined ? [] : [{ id: job.id, returned: unpack(job.returnvalue) }],
    );
  }

  async failed(id: string): Promise<readonly { id: string; why: string }[]> {
    const ids = await this.idsIn('failed', id, { atMost: 100, known: new Set() });
    const jobs = await Promise.all(ids.map((jobId) => this.work.getJob(jobId)));
    return jobs.flatMap((job) =>
      job?.id === undefined ? [] : [{ id: job.id, why: job.failedReason ?? 'no reason given' }],
    );
  }

  async late(id: string): Promise<readonly EndedJob[]> {
    const jobs = await this.lates.getWaiting(0, 999);
    return jobs.flatMap((job) =>
      job.id?.startsWith(`${id}-`) === true ? [{ id: job.id, returned: unpack(job.data) }] : [],
    );
  }

  async remove(ids: readonly string[]): Promise<void> {
    for (let from = 0; from < ids.length; from += REMOVED_AT_ONCE) {
      const some = ids.slice(from, from + REMOVED_AT_ONCE);
      await Promise.all(some.map((id) => this.work.remove(id)));
    }
  }

  async clear(id: string): Promise<void> {
    for (const state of ['waiting', 'delayed', 'failed'] as const) {
      await this.remove(await this.idsIn(state, id, { atMost: Infinity, known: new Set() }));
    }
  }

  async removeLate(ids: readonly string[]): Promise<void> {
    await Promise.all(ids.map((id) => this.lates.remove(id)));
  }

  async counts(): Promise<Awaited<ReturnType<SweepQueue['counts']>>> {
    const [counts, workers] = await Promise.all([
      this.work.getJobCounts('waiting', 'active', 'delayed', 'completed', 'failed'),
      this.work.getWorkersCount(),
    ]);
    const of = (state: string): number => counts[state] ?? 0;
    const ended = of('completed') + of('failed');
    return {
      ...{ waiting: of('waiting'), active: of('active'), delayed: of('delayed') },
      ...{ ended, workers },
    };
  }

  async close(): Promise<void> {
    await Promise.all([this.work, this.records, this.lates].map((queue) => queue.close()));
    await this.connection.close();
  }

  /** Ids of a sweep's jobs in one state. Others' are passed over; what moves is found next time. */
  private async idsIn(
    state: 'completed' | 'failed' | 'waiting' | 'delayed',
    sweep: string,
    { atMost, known }: { readonly atMost: number; readonly known: ReadonlySet<string> },
  ): Promise<readonly string[]> {
    const found: string[] = [];
    for (let from = 0; found.length < atMost; from += PAGE) {
      const ids = await this.work.getRanges([state], from, from + PAGE - 1, true);
      for (const id of ids) {
        if (found.length < atMost && id.startsWith(`${sweep}-`) && !known.has(id)) found.push(id);
      }
      if (ids.length < PAGE) break;
    }
    return found;
  }
}

/** Null where what is there is no record, or says that it is another sweep's. */
function listed(job: Job<unknown, unknown, string> | undefined): ListedSweep | null {
  const id = job?.id;
  if (job === undefined || id === undefined) return null;
  const entry = sweepEntrySchema.safeParse(job.data);
  if (!entry.success || sweepIdOf(entry.data.sweep) !== id) return null;
  const progress = sweepProgressSchema.safeParse(job.progress);
  return { id, entry: entry.data, progress: progress.success ? progress.data : null };
}
