/**
 * Measures sweeps on a queue: the gain from a second worker, the cost of the queue, and how fast a
 * coordinator adds its jobs. Starts its own Redis.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Fleet, type FleetEnd } from '../../src/adapters/fleet/coordinate.ts';
import type { QueueAddress } from '../../src/adapters/fleet/queue-url.ts';
import { MOST_JOBS, type ShardOrder } from '../../src/adapters/fleet/shard-order.ts';
import { originOf } from '../../src/search/sweep/checksummed.ts';
import { openPool, sweep } from '../../src/search/sweep/sweep.ts';
import { median, type Row, type Subject, wallRatio } from './measure.ts';
import { withRedis } from './user-redis.ts';
import { FIVE_BY_FIVE, fiveByFive } from './workload.ts';

/** Flag that starts a worker process. */
export const WORKER_FLAG = '--work-on-port';

const VERSION = 'bench';
const PASSES = 3;
/** A new thread takes some ten seconds until its code is fully compiled. */
const WARM_PASSES = 2;
const SHARD_SEEDS = 1_600;
const SHARDS = 6;
const SEEDS = SHARDS * SHARD_SEEDS;

function ordersFor(from: number, seeds: number, of: number): readonly ShardOrder[] {
  const scenarios = [{ origin: originOf(fiveByFive(), VERSION), text: FIVE_BY_FIVE }];
  const range = { from, to: from + seeds - 1 };
  return Array.from({ length: of }, (_, at) => {
    return { range, shard: { index: at + 1, of }, scenarios };
  });
}

/** Coordinates until all results have arrived, or for one round. */
async function coordinate(
  fleet: Fleet,
  orders: readonly ShardOrder[],
  { isOneRound }: { readonly isOneRound: boolean },
): Promise<FleetEnd> {
  const aborter = new AbortController();
  return await fleet.coordinate({
    orders,
    signal: aborter.signal,
    note: () => {},
    onShard: () => {},
    onProgress: () => {
      if (isOneRound) aborter.abort();
    },
  });
}

async function addingRow(fleet: Fleet): Promise<Row> {
  const taken: number[] = [];
  for (let pass = 0; pass < PASSES; pass += 1) {
    const startedMs = performance.now();
    await coordinate(fleet, ordersFor(pass, MOST_JOBS, MOST_JOBS), { isOneRound: true });
    taken.push(performance.now() - startedMs);
  }
  const wall = `${(median(taken) / 1000).toFixed(2)} s`;
  const what = `adding ${MOST_JOBS} jobs, and taking them off again`;
  return { what, cpu: '', wall, ratio: '', target: '≤ 10 s' };
}

/** Times passes over different seeds with the running workers, after warm-up passes. */
async function timeSweeps(fleet: Fleet, from: number): Promise<number> {
  const taken: number[] = [];
  for (let pass = 0; pass < WARM_PASSES + PASSES; pass += 1) {
    const startedMs = performance.now();
    const orders = ordersFor(from + pass, SEEDS, SHARDS);
    const end = await coordinate(fleet, orders, { isOneRound: false });
    if (end.kind !== 'complete') throw new Error(`the sweep ended ${end.kind}`);
    taken.push(performance.now() - startedMs);
  }
  return median(taken.slice(WARM_PASSES));
}

/** Times the same passes on `workers` threads of this process. */
async function timeThreads(workers: number): Promise<number> {
  const pool = openPool({ workers });
  const taken: number[] = [];
  for (let pass = 0; pass < WARM_PASSES + PASSES; pass += 1) {
    const startedMs = performance.now();
    await sweep(fiveByFive(), { from: 0, to: SEEDS - 1, pool });
    taken.push(performance.now() - startedMs);
  }
  await pool.close();
  return median(taken.slice(WARM_PASSES));
}

async function workerRows(address: QueueAddress, fleet: Fleet): Promise<readonly Row[]> {
  const [first, second] = await Promise.all([startWorker(address), startWorker(address)]);
  const two = await timeSweeps(fleet, 0);
  await endWorker(second);
  const one = await timeSweeps(fleet, 100);
  await endWorker(first);
  const alone = await timeThreads(1);
  const machine = wallRatio(alone, await timeThreads(2));
  return [
    {
      what: `two workers of one thread, ${SEEDS} seeds in ${SHARDS} shards`,
      cpu: '',
      wall: `${(two / 1000).toFixed(2)} s`,
      ratio: `${wallRatio(one, two)} the pace of one; two local threads: ${machine}`,
      target: '≥ 1.7×',
    },
    {
      what: 'one worker against the same sweep without a queue',
      cpu: '',
      wall: `${(one / 1000).toFixed(2)} s`,
      ratio: `${wallRatio(one, alone)} the time of ${(alone / 1000).toFixed(2)} s`,
      target: '',
    },
  ];
}

/** Resolves when the worker reports that it is ready. */
async function startWorker(address: QueueAddress): Promise<ChildProcess> {
  const script = fileURLToPath(new URL('./bench.js', import.meta.url));
  const worker = spawn(process.execPath, [script, WORKER_FLAG, String(address.port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(worker.stdout, 'data');
  return worker;
}

async function endWorker(worker: ChildProcess): Promise<void> {
  const ended = once(worker, 'exit');
  worker.kill('SIGTERM');
  await ended;
}

/** Works until SIGTERM. */
export async function workOn(port: number): Promise<void> {
  const { startFleetWorker: start } = await import('../../src/adapters/fleet/worker.ts');
  const { runShard } = await import('../../src/cli/run-scenarios.ts');
  const worker = await start({
    address: { host: '127.0.0.1', port },
    threads: 1,
    modules: null,
    version: VERSION,
    runShard,
    onNote: (line) => void process.stderr.write(`${line}\n`),
    onShard: () => {},
  });
  process.stdout.write('ready\n');
  await once(process, 'SIGTERM');
  await worker.close();
}

async function* rows(): AsyncIterable<Row> {
  const measured = await withRedis(async (address) => {
    const fleet = await Fleet.open(address);
    try {
      return [...(await workerRows(address, fleet)), await addingRow(fleet)];
    } finally {
      fleet.close();
    }
  });
  const what = 'a fleet: there is no redis-server';
  yield* measured ?? [{ what, cpu: '', wall: '', ratio: '', target: '' }];
}

export const fleet: Subject = {
  name: 'fleet',
  about: 'sweeps on a queue: the gain of a second worker, the cost of the queue',
  isLong: false,
  rows,
};
