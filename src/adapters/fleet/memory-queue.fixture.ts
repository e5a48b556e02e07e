/**
 * A queue in memory, for tests and benchmarks of the coordinator: it does what it is told at once,
 * and whoever holds it decides when jobs end, are lost, or come back twice. The id of a job begins
 * with that of its sweep.
 */
import type {
  AddedJob,
  ChunkJob,
  EndedJob,
  FailedJob,
  ListedSweep,
  QueueCounts,
  ShrinkJob,
  SweepEntry,
  SweepProgress,
  SweepQueue,
  Wanted,
} from './sweep-queue.ts';
import type { SweepRecord } from './sweep-record.ts';

export class MemoryQueue implements SweepQueue {
  readonly records: Map<string, { entry: SweepEntry; progress: SweepProgress | null }> = new Map();
  /** In the order in which they were added. */
  readonly waiting: Map<string, ChunkJob | ShrinkJob> = new Map();
  /** Jobs that workers hold. */
  readonly active: Map<string, ChunkJob | ShrinkJob> = new Map();
  readonly completed: Map<string, unknown> = new Map();
  readonly gaveUp: Map<string, string> = new Map();
  readonly lates: Map<string, unknown> = new Map();
  /** What workers said of why they leave a sweep to others, by sweep. */
  readonly refused: Map<string, readonly string[]> = new Map();
  /** How often a job was added that was not there. */
  added = 0;

  /** Forgets everything, as a server does that is restarted without its data. */
  lose(): void {
    for (const part of [this.records, this.refused, ...this.parts]) part.clear();
  }

  /** Workers take jobs that wait, at most so many, and hold them. */
  hold(atMost: number = Infinity): void {
    move(this.waiting, atMost, (id, job) => this.active.set(id, job));
  }

  /** Ends jobs that workers hold, at most so many, with what `work` returns. */
  finish(work: (job: ChunkJob | ShrinkJob) => unknown, atMost: number = Infinity): void {
    move(this.active, atMost, (id, job) => this.completed.set(id, work(job)));
  }

  /** Ends jobs that wait, at most so many, with what `work` returns. */
  work(work: (job: ChunkJob | ShrinkJob) => unknown, atMost: number = Infinity): void {
    move(this.waiting, atMost, (id, job) => this.completed.set(id, work(job)));
  }

  async announce(id: string, sweep: SweepRecord): Promise<ListedSweep> {
    const known = this.records.get(id) ?? { entry: { sweep, state: 'running' }, progress: null };
    this.records.set(id, known);
    return { id, ...known };
  }

  async sweep(id: string): Promise<ListedSweep | null> {
    const known = this.records.get(id);
    return known === undefined ? null : { id, ...known };
  }

  async sweeps(): Promise<readonly ListedSweep[]> {
    return [...this.records].map(([id, known]) => ({ id, ...known }));
  }

  async setState(id: string, state: SweepEntry['state']): Promise<void> {
    const known = this.records.get(id);
    if (known !== undefined) {
      this.records.set(id, { ...known, entry: { ...known.entry, state } });
    }
  }

  async tell(id: string, progress: SweepProgress): Promise<void> {
    const known = this.records.get(id);
    if (known === undefined) throw new Error('there is no such record');
    this.records.set(id, { ...known, progress });
  }

  async end(id: string): Promise<void> {
    for (const part of this.parts) {
      for (const jobId of part.keys()) if (isOf(id, jobId)) part.delete(jobId);
    }
    this.records.delete(id);
    this.refused.delete(id);
  }

  async add(jobs: readonly AddedJob[]): Promise<void> {
    const parts = [this.waiting, this.active, this.completed, this.gaveUp];
    for (const { id, job } of jobs) {
      if (parts.some((part) => part.has(id))) continue;
      this.added += 1;
      this.waiting.set(id, job);
    }
  }

  async ended(id: string, wanted: Wanted): Promise<readonly EndedJob[]> {
    return endedIn(this.completed, id, wanted);
  }

  async failed(id: string): Promise<readonly FailedJob[]> {
    const failed = [...this.gaveUp].filter(([jobId]) => isOf(id, jobId));
    return failed.map(([jobId, why]) => ({ id: jobId, why }));
  }

  async late(id: string, wanted: Wanted): Promise<readonly EndedJob[]> {
    return endedIn(this.lates, id, wanted);
  }

  async remove(_id: string, jobIds: readonly string[]): Promise<void> {
    for (const id of jobIds) {
      for (const part of [this.waiting, this.completed, this.gaveUp]) part.delete(id);
    }
  }

  async removeLate(_id: string, jobIds: readonly string[]): Promise<void> {
    for (const id of jobIds) this.lates.delete(id);
  }

  async clear(id: string): Promise<void> {
    for (const part of [this.waiting, this.gaveUp]) {
      for (const jobId of part.keys()) if (isOf(id, jobId)) part.delete(jobId);
    }
  }

  async counts(id: string): Promise<QueueCounts> {
    return this.countWhere((jobId) => isOf(id, jobId));
  }

  async total(): Promise<QueueCounts> {
    return this.countWhere(() => true);
  }

  async refusals(id: string): Promise<readonly string[]> {
    return this.refused.get(id) ?? [];
  }

  async close(): Promise<void> {}

  private get parts(): readonly Map<string, unknown>[] {
    return [this.waiting, this.active, this.completed, this.gaveUp, this.lates];
  }

  private countWhere(isCounted: (jobId: string) => boolean): QueueCounts {
    const count = (part: Map<string, unknown>): number => {
      let jobs = 0;
      for (const id of part.keys()) if (isCounted(id)) jobs += 1;
      return jobs;
    };
    const ended = count(this.completed) + count(this.gaveUp);
    return {
      ...{ waiting: count(this.waiting), active: count(this.active), delayed: 0 },
      ...{ ended, workers: 1 },
    };
  }
}

function isOf(sweep: string, jobId: string): boolean {
  return jobId.startsWith(`${sweep}-`);
}

function endedIn(
  part: Map<string, unknown>,
  sweep: string,
  { atMost, known }: Wanted,
): readonly EndedJob[] {
  const ended: EndedJob[] = [];
  for (const [id, returned] of part) {
    if (ended.length === atMost) break;
    if (isOf(sweep, id) && !known.has(id)) ended.push({ id, returned });
  }
  return ended;
}

function move<Value>(
  from: Map<string, Value>,
  atMost: number,
  take: (id: string, value: Value) => void,
): void {
  let left = atMost;
  for (const [id, value] of from) {
    if (left === 0) return;
    left -= 1;
    from.delete(id);
    take(id, value);
  }
}
