/** Results that a worker has after their job was given to another: kept apart, to be compared. */
import { randomUUID } from 'node:crypto';
import { jobIdOf } from './chunk-map.ts';
import type { ChunkResult } from './chunk-result.ts';
import type { OpenedQueue, QueueConnection } from './connection.ts';
import { lateQueueOf } from './queue-names.ts';

export class LateResults {
  private readonly connection: QueueConnection;
  private readonly records: OpenedQueue;

  constructor(connection: QueueConnection, records: OpenedQueue) {
    this.connection = connection;
    this.records = records;
  }

  /** False where the sweep is not on the queue any more, and nothing of it may stay there. */
  async add(sweepId: string, result: ChunkResult): Promise<boolean> {
    if (!(await this.isThere(sweepId))) return false;
    const queue = this.connection.queue(lateQueueOf(sweepId));
    try {
      const jobId = `${jobIdOf(sweepId, result.chunk)}-${randomUUID()}`;
      await queue.add('late', result, { jobId });
      if (await this.isThere(sweepId)) return true;
      // Whoever ended the sweep looked for late results before this one was there.
      await queue.obliterate({ force: true });
      return false;
    } finally {
      await queue.close();
    }
  }

  private async isThere(sweepId: string): Promise<boolean> {
    return (await this.records.getJob(sweepId)) !== undefined;
  }
}
