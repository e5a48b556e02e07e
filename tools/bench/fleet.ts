/**
 * Measures sweeps on a queue: what a second worker is worth, what the queue costs, how fast chunks
 * are added and how much memory a coordinator takes. It starts a Redis of its own.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openBullQueue } from '../../src/adapters/fleet/bull-queue.ts';
import { coordinate, type FleetResult } from '../../src/adapters/fleet/coordinate.ts';
import { Coordinator } from '../../src/adapters/fleet/coordinator.ts';
import { MemoryQueue } from '../../src/adapters/fleet/memory-queue.fixture.ts';
import type { QueueAddress } from '../../src/adapters/fleet/queue-url.ts';
import type { ChunkJob, SweepQueue } from '../../src/adapters/fleet/sweep-queue.ts';
import type { SweepRecord } from '../../src/adapters/fleet/sweep-record.ts';
import { originOf } from '../../src/search/sweep/sealed.ts';
import { openPool, sweep } from '../../src/search/sweep/sweep.ts';
import { EMPTY_TALLY } from '../../src/search/sweep/tally.ts';
import { median, type Row, type Subject, wallRatio } from './measure.ts';
import { withRedis } from './own-redis.ts';
import { FIVE_BY_FIVE, fiveByFive, SYSTEM } from './workload.ts';

/** What a process of its own is started with, to tell a coordinator's largest size. */
export const COORDINATOR_FLAG = '--coordinate-and-tell-size';

const VERSION = 'bench';
const FEW_CHUNKS = 100_000;
const MANY_CHUNKS = 1_000_000;
const ADDED_CHUNKS = 10_000;
const PASSES = 3;
/** A new thread takes some ten seconds until its code is compiled for good. */
const WARM_PASSES = 2;
const CHUNK_SEEDS = 1600;
const CHUNKS = 6;
/** Often enough for passes of some seconds, and seldom enough to cost nothing itself. */
const POLL_MS = 50;
/** A chunk in production takes about this long. */
const CHUNK_MS = 20_000;

function recordOf(seeds: number, chunkSeeds: number): SweepRecord {
  const range = { from: 0, to: seeds - 1 };
  const origin = originOf(fiveByFive(), VERSION);
  return { origin, file: 'five-by-five.yaml', text: FIVE_BY_FIVE, range, chunkSeeds };
}

function optionsFor(record: SweepRecord, queue: SweepQueue): Parameters<typeof coordinate>[0] {
  return {
    sweep: record,
    scenario: fiveByFive(),
    queue,
    checkpoint: null,
    save: () => {},
    planFileOf: () => '',
    onShrunk: () => {},
    note: () => {},
    coordinator: randomUUID(),
    shouldStop: () => false,
  };
}

/** Sees a sweep of empty chunks through, in memory, and prints its largest size in kilobytes. */
export async function coordinateAndTell(chunks: number): Promise<void> {
  const queue = new MemoryQueue();
  const empty = ({ chunk, from, to }: ChunkJob): unknown => ({
    chunk,
    from,
    to,
    milliseconds: 0,
    tallies: { [SYSTEM]: { ...EMPTY_TALLY, seeds: 1 } },
  });
  const ended = queue.ended.bind(queue);
  queue.ended = (id, options) => {
    queue.work((job) => (job.kind === 'chunk' ? empty(job) : null));
    return ended(id, options);
  };
  const result = await coordinate(optionsFor(recordOf(chunks, 1), queue));
  const seeds = result.tallies.get(SYSTEM)?.seeds;
  if (seeds !== chunks) throw new Error(`${seeds} of ${chunks} chunks were counted`);
  process.stdout.write(String(process.resourceUsage().maxRSS));
}

function megabytesWith(chunks: number): number {
  const script = fileURLToPath(new URL('./bench.js', import.meta.url));
  const { stdout } = spawnSync(process.execPath, [script, COORDINATOR_FLAG, String(chunks)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return Number(stdout) / 1024;
}

function memoryRow(): Row {
  const few = megabytesWith(FEW_CHUNKS);
  const many = megabytesWith(MANY_CHUNKS);
  return {
    what: `largest size of a coordinator of ${MANY_CHUNKS} empty chunks`,
    cpu: '',
    wall: `${many.toFixed(0)} MB`,
    ratio: `${wallRatio(many, few)} the size with ${FEW_CHUNKS}`,
    target: 'constant',
  };
}

async function addingRow(address: QueueAddress): Promise<Row> {
  const taken: number[] = [];
  for (let pass = 0; pass < PASSES; pass += 1) {
    const queue = await openBullQueue(address, () => {});
    const record = {
      ...recordOf(ADDED_CHUNKS, 1),
      range: { from: pass, to: pass + ADDED_CHUNKS - 1 },
    };
    const coordinator = new Coordinator(optionsFor(record, queue));
    const startedMs = performance.now();
    await coordinator.add();
    taken.push(performance.now() - startedMs);
    await queue.end(coordinator.id);
    const { waiting } = await queue.counts(coordinator.id);
    if (waiting !== 0) throw new Error(`${waiting} chunks were left on the queue`);
    await queue.close();
  }
  return {
    what: `adding ${ADDED_CHUNKS} chunks`,
    cpu: '',
    wall: `${(median(taken) / 1000).toFixed(2)} s`,
    ratio: '',
    target: '≤ 2 s',
  };
}

async function withQueue<Result>(
  address: QueueAddress,
  act: (queue: SweepQueue) => Promise<Result>,
): Promise<Result> {
  const queue = await openBullQueue(address, () => {});
  try {
    return await act(queue);
  } finally {
    await queue.close();
  }
}

interface Timed {
  readonly milliseconds: number;
  /** What the workers took for the chunks themselves. */
  readonly workMs: number;
}

/** Sweeps with the workers that are there; every pass is of other seeds. */
async function timeSweep(address: QueueAddress, from: number): Promise<Timed> {
  return await withQueue(address, async (queue) => {
    const record = recordOf(CHUNKS * CHUNK_SEEDS, CHUNK_SEEDS);
    const range = { from, to: from + CHUNKS * CHUNK_SEEDS - 1 };
    let workMs = 0;
    const ended = queue.ended.bind(queue);
    queue.ended = async (id, options) => {
      const jobs = await ended(id, options);
      for (const { returned } of jobs) {
        const isTimed = typeof returned === 'object' && returned !== null;
        if (isTimed && 'milliseconds' in returned) workMs += Number(returned.milliseconds);
      }
      return jobs;
    };
    const options = optionsFor({ ...record, range }, queue);
    const startedMs = performance.now();
    const result: FleetResult = await coordinate({ ...options, timing: { pollMs: POLL_MS } });
    const milliseconds = performance.now() - startedMs;
    const seeds = result.tallies.get(SYSTEM)?.seeds;
    if (seeds !== CHUNKS * CHUNK_SEEDS) throw new Error(`${seeds} seeds were counted`);
    return { milliseconds, workMs };
  });
}

async function workerRows(address: QueueAddress): Promise<readonly Row[]> {
  const [first, second] = await Promise.all([startWorker(address), startWorker(address)]);
  const two = await timeSweeps(address, 0);
  await endWorker(second);
  const one = await timeSweeps(address, 100);
  await endWorker(first);
  const alone = await timeThreads(1);
  const machine = wallRatio(median(alone), median(await timeThreads(2)));
  const ms = (timed: readonly Timed[]): number => median(timed.map((each) => each.milliseconds));
  const gapMs = median(one.map((each) => (each.milliseconds - each.workMs) / CHUNKS));
  const chunkMs = ms(one) / CHUNKS;
  const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(2)} %`;
  return [
    {
      what: `two workers of one thread, ${CHUNKS * CHUNK_SEEDS} seeds in ${CHUNKS} chunks`,
      cpu: '',
      wall: `${(ms(two) / 1000).toFixed(2)} s`,
      ratio: `${wallRatio(ms(one), ms(two))} the pace of one; two local threads: ${machine}`,
      target: '≥ 1.7×',
    },
    {
      what: `what the queue costs a chunk of ${(chunkMs / 1000).toFixed(1)} s`,
      cpu: '',
      wall: `${gapMs.toFixed(1)} ms`,
      ratio: `${percent(gapMs, chunkMs)}; of ${CHUNK_MS / 1000} s ${percent(gapMs, CHUNK_MS)}`,
      target: '≤ 2 % of 20 s',
    },
    {
      what: 'one worker against the same sweep without a queue',
      cpu: '',
      wall: `${(ms(one) / 1000).toFixed(2)} s`,
      ratio: `${wallRatio(ms(one), median(alone))} the time of ${(median(alone) / 1000).toFixed(2)} s`,
      target: '',
    },
  ];
}

/** Passes with the workers that are there, after those in which they get warm. */
async function timeSweeps(address: QueueAddress, from: number): Promise<readonly Timed[]> {
  const timed: Timed[] = [];
  for (let pass = 0; pass < WARM_PASSES + PASSES; pass += 1) {
    timed.push(await timeSweep(address, from + pass));
  }
  return timed.slice(WARM_PASSES);
}

/** Milliseconds of passes over the same seeds on so many threads of this process. */
async function timeThreads(workers: number): Promise<readonly number[]> {
  const pool = openPool({ workers });
  const taken: number[] = [];
  for (let pass = 0; pass < WARM_PASSES + PASSES; pass += 1) {
    const startedMs = performance.now();
    await sweep(fiveByFive(), { from: 0, to: CHUNKS * CHUNK_SEEDS - 1, pool });
    taken.push(performance.now() - startedMs);
  }
  await pool.close();
  return taken.slice(WARM_PASSES);
}

/** Ready once it says so. */
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

/** What a worker's process is started with. */
export const WORKER_FLAG = '--work-on-port';

/** Works until SIGTERM. */
export async function workOn(port: number): Promise<void> {
  const { startFleetWorker: start } = await import('../../src/adapters/fleet/worker.ts');
  const address = { host: '127.0.0.1', port };
  const note = (line: string): void => {
    process.stderr.write(`${line}\n`);
  };
  const worker = await start({ address, threads: 1, modules: null, version: VERSION, note });
  process.stdout.write('ready\n');
  await once(process, 'SIGTERM');
  await worker.close();
}

async function* rows(): AsyncIterable<Row> {
  const measured = await withRedis(async (address) => [
    ...(await workerRows(address)),
    await addingRow(address),
    memoryRow(),
  ]);
  const none = {
    what: 'a fleet: there is no redis-server',
    cpu: '',
    wall: '',
    ratio: '',
    target: '',
  };
  yield* measured ?? [none];
}

export const fleet: Subject = {
  name: 'fleet',
  about: 'sweeps on a queue: a second worker, what the queue costs, a coordinator’s memory',
  isLong: false,
  rows,
};
