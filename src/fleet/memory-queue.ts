/**
 * A queue in memory, for tests and benchmarks of the coordinator: it does what it is told at once,
 * and whoever holds it decides when jobs end, are lost, or come back twice.
 */
import type { ChunkJob, ShrinkJob, SweepEntry, SweepProgress } from './jobs.ts';
import type { AddedJob, EndedJob, ListedSweep, QueueCounts, SweepQueue } from './sweep-queue.ts';
import type { SweepRecord } from './sweep-record.ts';

export class MemoryQueue implements SweepQueue {
  readonly records: Map<string, { entry: SweepEntry; progress: SweepProgress | null }> = new Map();
  /** In the order in which they were added. */
  readonly waiting: Map<string, ChunkJob | ShrinkJob> = new Map();
  readonly completed: Map<string, unknown> = new Map();
  readonly gaveUp: Map<string, string> = new Map();
  readonly lates: Map<string, unknown> = new Map();
  /** How often a job was added that was not there. */
  added = 0;

  /** Forgets everything, as a server does that is restarted without its data. */
  lose(): void {
    for (const part of [this.records, this.waiting, this.completed, this.gaveUp, this.lates]) {
      part.clear();
    }
  }

  /** Ends jobs that wait, at most so many, with what `work` returns. */
  work(work: (job: ChunkJob | ShrinkJob) => unknown, atMost: number = Infinity): void {
    let left = atMost;
    for (const [id, job] of this.waiting) {
      if (left === 0) return;
      left -= 1;
      this.waiting.delete(id);
      this.completed.set(id, work(job));
    }
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

  async forget(id: string): Promise<void> {
    this.records.delete(id);
  }

  async add(jobs: readonly AddedJob[]): Promise<void> {
    for (const { id, job } of jobs) {
      if ([this.waiting, this.completed, this.gaveUp].some((part) => part.has(id))) continue;
      this.added += 1;
      this.waiting.set(id, job);
    }
  }

  async ended(
    _id: string,
    { atMost, known }: { readonly atMost: number; readonly known: ReadonlySet<string> },
  ): Promise<readonly EndedJob[]> {
    const ended: EndedJob[] = [];
    for (const [id, returned] of this.completed) {
      if (ended.length === atMost) break;
      if (!known.has(id)) ended.push({ id, returned });
    }
    return ended;
  }

  async failed(): Promise<readonly { id: string; why: string }[]> {
    return [...this.gaveUp].map(([id, why]) => ({ id, why }));
  }

  async late(): Promise<readonly EndedJob[]> {
    return [...this.lates].map(([id, returned]) => ({ id, returned }));
  }

  async remove(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      for (const part of [this.waiting, this.completed, this.gaveUp]) part.delete(id);
    }
  }

  async clear(): Promise<void> {
    this.waiting.clear();
    this.gaveUp.clear();
  }

  async removeLate(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.lates.delete(id);
  }

  async counts(): Promise<QueueCounts> {
    const ended = this.completed.size + this.gaveUp.size;
    return { waiting: this.waiting.size, active: 0, delayed: 0, ended, workers: 1 };
  }

  async close(): Promise<void> {}
}
