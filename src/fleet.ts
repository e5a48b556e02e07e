/**
 * `fencepost/fleet`: a worker for sweeps on an existing queue, for use in your own programs. It
 * needs the packages `bullmq` and `ioredis`; the command `worker` does the same.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { readQueueUrl } from './adapters/fleet/queue-url.ts';
import type { FleetWorker } from './adapters/fleet/worker.ts';
import { requireVersions } from './adapters/installed-version.ts';

export type { FleetWorker } from './adapters/fleet/worker.ts';

export interface StartWorkerOptions {
  /** `redis://[user[:password]@]host[:port][/db]`, or `rediss://…`. Credentials are not printed. */
  readonly queue: string;
  /** Number of worker threads. Default: one per core. */
  readonly threads?: number;
  /** The folder of the scenarios’ modules. Without it, scenarios with modules are refused. */
  readonly modules?: string;
  /** Called with a one-line message for each refusal or problem. */
  readonly onNote?: (line: string) => void;
  /** Called with a one-line message for each completed shard. */
  readonly onShard?: (line: string) => void;
}

/**
 * Works on the sweeps of a queue until `close()`, which finishes the current shard. Rejects if the
 * URL is invalid, the queue cannot be reached, or `bullmq` or `ioredis` is too old.
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
