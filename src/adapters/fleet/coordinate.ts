/**
 * Coordinates a fleet: puts each shard of a sweep on the queue as one job, polls the jobs every
 * second, and collects the results. Jobs are added again if they disappear, for example because
 * Redis lost its data, or have unexpected contents. Two coordinators may do this at once: a job
 * fully determines the result of its shard, so duplicate results are equal.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Job, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { countSchema } from '../../search/sweep/counts.ts';
import { type FiledShard, readShard, whyOfAnotherRun } from '../../search/sweep/shards.ts';
import { connect, PREFIX, SHARD_QUEUE, type ShardProgress } from './connection.ts';
import { isAway, type QueueAddress } from './queue-url.ts';
import { jobIdOf, type ShardOrder, shardName, sweepIdOf } from './shard-order.ts';

export interface CoordinateOptions {
  /** All shards of one sweep. */
  readonly orders: readonly ShardOrder[];
  readonly signal: AbortSignal;
  readonly note: (line: string) => void;
  readonly onShard: (shard: FiledShard) => void;
  readonly onProgress: (progress: FleetProgress) => void;
}

export interface FleetProgress extends ShardProgress {
  /** Number of collected shards. `active` counts the shards that workers are running. */
  readonly collected: number;
  readonly active: number;
}

export type FleetEnd =
  | { readonly kind: 'complete'; readonly shards: readonly FiledShard[] }
  /** Some jobs failed on the workers, or repeatedly had unexpected contents. */
  | { readonly kind: 'failed'; readonly failures: readonly ShardFailure[] }
  | { readonly kind: 'interrupted'; readonly collected: number };

interface ShardFailure {
  readonly order: ShardOrder;
  /** The error message of the last worker, or a description of the unexpected contents. */
  readonly why: string;
}

type ShardQueue = Queue<unknown, unknown, string>;

const POLL_MS = 1_000;
const ASKED_AT_ONCE = 200;
/** A shard fails when its job has had unexpected contents this many times. */
const MOST_DAMAGED = 3;
/** Results that no coordinator collects are deleted after a week. */
const KEPT = { age: 7 * 24 * 3600 };

const WAITING = ['waiting', 'prioritized', 'delayed'] as const;
const ALL = [...WAITING, 'active', 'completed', 'failed'] as const;

/** A coordinator's view of the queue. */
export class Fleet {
  readonly redis: Redis;
  readonly queue: ShardQueue;

  constructor(redis: Redis) {
    this.redis = redis;
    // Keep few events: each contains a full result, and no code reads events.
    const streams = { events: { maxLen: 10 } };
    this.queue = new Queue(SHARD_QUEUE, { connection: redis, prefix: PREFIX, streams });
    this.queue.on('error', () => {}); // reported by the command that fails
  }

  /** Connects to the queue. Rejects if it cannot be reached. */
  static async open(address: QueueAddress): Promise<Fleet> {
    return new Fleet(await connect(address, { isPatient: false }));
  }

  /** Returns the shard count of the sweep, or null if the queue contains none of its jobs. */
  async shardCountBefore(sweepId: string): Promise<number | null> {
    const shardName = new RegExp(`^${sweepId}-\\d+-of-([1-9]\\d{0,3})$`);
    const ids = await this.queue.getRanges([...ALL], 0, -1, true);
    const [first = null] = ids.flatMap((id) => shardName.exec(id)?.[1] ?? []);
    return first === null ? null : Number(first);
  }

  /** Runs a sweep on the workers. Survives restarts of workers, Redis and coordinators. */
  async coordinate(options: CoordinateOptions): Promise<FleetEnd> {
    return await new Coordinator(this, options).run();
  }

  /** Removes jobs from the queue, except those that a worker is running. */
  async remove(ids: readonly string[]): Promise<void> {
    for (let from = 0; from < ids.length; from += ASKED_AT_ONCE) {
      const some = ids.slice(from, from + ASKED_AT_ONCE);
      await Promise.all(some.map((id) => this.queue.remove(id)));
    }
  }

  /** Reads a job. Returns undefined if it does not exist. */
  async read(id: string): Promise<Job<unknown, unknown, string> | 'unreadable' | undefined> {
    try {
      return await this.queue.getJob(id);
    } catch (error) {
      if (error instanceof SyntaxError || error instanceof TypeError) return 'unreadable';
      if (error instanceof Error && error.message.includes('WRONGTYPE')) return 'unreadable';
      throw error;
    }
  }

  close(): void {
    this.redis.disconnect();
  }
}

interface Missing {
  readonly order: ShardOrder;
  isAdded: boolean;
  /** Number of times that the job had unexpected contents. */
  damaged: number;
}

class Coordinator {
  private readonly fleet: Fleet;
  private readonly options: CoordinateOptions;
  private readonly missing: Map<string, Missing>;
  private readonly shards: FiledShard[] = [];
  private readonly failures: ShardFailure[] = [];
  private readonly counted = { done: 0, broken: 0 };
  private isFirstRound = true;
  private isAway = false;

  constructor(fleet: Fleet, options: CoordinateOptions) {
    this.fleet = fleet;
    this.options = options;
    const [first] = options.orders;
    const sweepId = first === undefined ? '' : sweepIdOf(first);
    this.missing = new Map(
      options.orders.map((order) => {
        return [jobIdOf(sweepId, order.shard), { order, isAdded: false, damaged: 0 }];
      }),
    );
  }

  async run(): Promise<FleetEnd> {
    const { signal } = this.options;
    while (this.missing.size > 0 && this.failures.length === 0 && !signal.aborted) {
      await this.unlessAway(() => this.round());
      if (this.missing.size > 0) await sleep(POLL_MS, null, { signal }).catch(() => {});
    }
    if (this.missing.size === 0) return { kind: 'complete', shards: this.shards };
    // Remove the jobs that no worker has started. Results stay, in case the sweep is restarted.
    await this.unlessAway(async () => this.fleet.remove(await this.owned(WAITING)));
    if (this.failures.length > 0) return { kind: 'failed', failures: this.failures };
    return { kind: 'interrupted', collected: this.shards.length };
  }

  /** Runs `act`. If the queue does not answer, the next round tries again. */
  private async unlessAway(act: () => Promise<void>): Promise<void> {
    const { note } = this.options;
    try {
      await act();
      if (this.isAway) note('the queue answers again');
      this.isAway = false;
    } catch (error) {
      if (!isAway(error)) throw error;
      if (!this.isAway) note(`the queue does not answer: ${error.message}; waiting for it`);
      this.isAway = true;
    }
  }

  private async round(): Promise<void> {
    // A restarted sweep retries failed jobs.
    if (this.isFirstRound) await this.fleet.remove(await this.owned(['failed']));
    for (const id of await this.owned(['failed'])) await this.fail(id);
    for (const id of await this.owned(['completed'])) await this.collect(id);
    const active = await this.owned(['active']);
    let { done, broken } = this.counted;
    for (const id of active) {
      const job = await this.sound(id);
      const progress = progressSchema.safeParse(job?.progress);
      done += progress.data?.done ?? 0;
      broken += progress.data?.broken ?? 0;
    }
    await this.add();
    this.isFirstRound = false;
    const collected = this.shards.length;
    this.options.onProgress({ done, broken, collected, active: active.length });
  }

  private async owned(states: readonly (typeof ALL)[number][]): Promise<readonly string[]> {
    const ids = await this.fleet.queue.getRanges([...states], 0, -1, true);
    return ids.filter((id) => this.missing.has(id));
  }

  private async add(): Promise<void> {
    const { queue, redis } = this.fleet;
    const there = new Set(await this.owned(ALL));
    const absent = [...this.missing].filter(([id]) => !there.has(id));
    const lost = absent.flatMap(([id, { isAdded }]) => (isAdded ? [queue.toKey(id)] : []));
    if (lost.length > 0) {
      this.options.note(`${lost.length} jobs are gone from the queue: added again`);
      // BullMQ would not add a job again while its old key exists, even if the job is in no list.
      await redis.del(...lost);
    }
    for (let from = 0; from < absent.length; from += ASKED_AT_ONCE) {
      const some = absent.slice(from, from + ASKED_AT_ONCE);
      const jobs = some.map(([jobId, { order }]) => {
        const backoff = { type: 'exponential', delay: 1_000 };
        const kept = { removeOnComplete: KEPT, removeOnFail: KEPT };
        // The first shards of each sweep have priority, so that a small sweep does not wait for a
        // large one.
        const priority = order.shard.index;
        const opts = { jobId, priority, attempts: 3, backoff, ...kept };
        return { name: 'shard', data: order, opts };
      });
      await queue.addBulk(jobs);
      for (const [, job] of some) job.isAdded = true;
    }
  }

  /** Returns a job with the expected contents; otherwise removes it and returns null. */
  private async sound(id: string): Promise<Job<unknown, unknown, string> | null> {
    const { queue, redis } = this.fleet;
    const job = await this.fleet.read(id);
    const order = this.missing.get(id)?.order;
    if (job === undefined) return null;
    // BullMQ does not remove a key that is not a hash, or a job that a worker locked but could not
    // read.
    if (job === 'unreadable') await redis.del(queue.toKey(id), `${queue.toKey(id)}:lock`);
    if (job !== 'unreadable' && JSON.stringify(job.data) === JSON.stringify(order)) return job;
    await this.discard(id, 'its job contains a different order');
    return null;
  }

  private async discard(id: string, why: string): Promise<void> {
    const job = this.missing.get(id);
    if (job === undefined || (await this.fleet.queue.remove(id)) === 0) return;
    job.isAdded = false;
    job.damaged += 1;
    if (job.damaged >= MOST_DAMAGED) this.failures.push({ order: job.order, why });
    else this.options.note(`${shardName(job.order.shard)}: ${why}; it is added again`);
  }

  private async fail(id: string): Promise<void> {
    const job = await this.sound(id);
    const order = this.missing.get(id)?.order;
    if (order === undefined || job === null) return;
    this.failures.push({ order, why: job.failedReason || 'BullMQ gives no reason' });
  }

  private async collect(id: string): Promise<void> {
    const job = await this.sound(id);
    const order = this.missing.get(id)?.order;
    if (order === undefined || job === null) return;
    const filed = shardIn(job.returnvalue, order);
    if (typeof filed === 'string') {
      await this.discard(id, `a worker's result ${filed}`);
      return;
    }
    this.missing.delete(id);
    this.shards.push(filed);
    for (const counts of filed.shard.scenarios.flatMap(({ countsBySystem }) =>
      Object.values(countsBySystem),
    )) {
      this.counted.done += counts.seeds;
      this.counted.broken += counts.broken;
    }
    this.options.onShard(filed);
  }
}

const progressSchema: z.ZodType<ShardProgress> = z.object({
  done: countSchema,
  broken: countSchema,
});

/** Returns the shard in a worker's result, or a clause that says why the result is invalid. */
function shardIn(returned: unknown, order: ShardOrder): FiledShard | string {
  const read = readShard(typeof returned === 'string' ? returned : '');
  if (read.kind === 'problem') return read.what;
  const { shard } = read;
  const other = whyOfAnotherRun(shard, order);
  if (other !== null) return other;
  const file = shardName(shard.shard);
  return shard.shard.index === order.shard.index ? { file, shard } : `is ${file}`;
}
