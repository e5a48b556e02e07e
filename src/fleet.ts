/**
 * `fencepost/fleet`: sweeps on an existing queue, for programs of one's own. It needs the packages
 * `bullmq` and `ioredis`; the commands `sweep` and `worker` do the same.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { readQueueUrl } from './adapters/fleet/queue-url.ts';
import type { ChunkResult } from './adapters/fleet/sweep-queue.ts';
import type { ChunkPlace, FleetWorker } from './adapters/fleet/worker.ts';
import { requireVersions } from './adapters/installed-version.ts';

export type { ChunkResult } from './adapters/fleet/sweep-queue.ts';
export type { ChunkPlace, FleetWorker } from './adapters/fleet/worker.ts';

export interface StartWorkerOptions {
  /**
   * `redis://[user[:password]@]host[:port][/db]`, or `rediss://…`. Its credentials are never
   * printed.
   */
  readonly queue: string;
  /** Worker threads; by default one a core. */
  readonly threads?: number;
  /** The folder below which the scenarios’ modules lie; without it none that uses any is taken. */
  readonly modules?: string;
  /** Told, in one line each, what is refused or goes wrong. */
  readonly onNote?: (line: string) => void;
  /** Told of each chunk that is done, and which sweep it is of. */
  readonly onChunk?: (result: ChunkResult, place: ChunkPlace) => void;
}

/**
 * Works for the sweeps on a queue until `close()`, which finishes the chunk at hand. Rejects where
 * the URL is none, the queue cannot be reached, or `bullmq` or `ioredis` is too old.
 */
export async function startWorker(options: StartWorkerOptions): Promise<FleetWorker> {
  const { queue, threads = availableParallelism(), modules = null } = options;
  const read = readQueueUrl(queue);
  if (read.kind === 'problem') throw new Error(`the queue’s URL ${read.what}`);
  const { onNote = () => {}, onChunk = () => {} } = options;
  requireVersions(['bullmq', 'ioredis']);
  const { startFleetWorker } = await import('./adapters/fleet/worker.ts');
  const { address } = read;
  return await startFleetWorker({
    address,
    threads,
    modules,
    version: version(),
    note: onNote,
    onChunk,
  });
}

function version(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return /"version":\s*"([^"]+)"/.exec(text)?.[1] ?? 'unknown';
}
