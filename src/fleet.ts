/**
 * `fencepost/fleet`: a worker for sweeps on an existing queue, in programs of one's own. It needs
 * the packages `bullmq` and `ioredis`; the command `worker` does the same.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { readQueueUrl } from './adapters/fleet/queue-url.ts';
import type { FleetWorker } from './adapters/fleet/worker.ts';
import { requireVersions } from './adapters/installed-version.ts';

export type { FleetWorker } from './adapters/fleet/worker.ts';

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
  /** Called with what is refused or goes wrong, in one line each. */
  readonly onNote?: (line: string) => void;
  /** Called with each shard that is done, in one line. */
  readonly onShard?: (line: string) => void;
}

/**
 * Works for the sweeps on a queue until `close()`, which finishes the shard at hand. Rejects where
 * the URL is none, the queue cannot be reached, or `bullmq` or `ioredis` is too old.
 */
export async function startWorker(options: StartWorkerOptions): Promise<FleetWorker> {
  const { queue, threads = availableParallelism(), modules = null } = options;
  const read = readQueueUrl(queue);
  if (read.kind === 'problem') throw new Error(`the queue’s URL ${read.what}`);
  const { onNote = () => {}, onShard = () => {} } = options;
  requireVersions(['bullmq', 'ioredis']);
  const { startFleetWorker } = await import('./adapters/fleet/worker.ts');
  const { runShard } = await import('./cli/run-scenarios.ts');
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return await startFleetWorker({
    address: read.address,
    threads,
    modules,
    version: /"version":\s*"([^"]+)"/.exec(manifest)?.[1] ?? 'unknown',
    runShard,
    onNote,
    onShard,
  });
}
