/** A sweep and its workers as processes, for tests of sweeps on a queue. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { root } from '../../../cli/command-line.fixture.ts';
import { type Ended, FleetShell, type Started, said } from '../fleet-shell.fixture.ts';
import type { OneRedis } from './one-redis.fixture.ts';

const SCRIPT = fileURLToPath(new URL('worker.fixture.mjs', import.meta.url));
const SCENARIO = join(root, 'fixtures/zombie-writer.yaml');
export const SHARDS = 6;
export const SEEDS = 300;
const SWEPT = [SCENARIO, '--seeds', `${SEEDS}`, '--json', '--reporter', 'html,json'];

const lineSchema = z.object({
  note: z.string().optional(),
  begun: z.number().optional(),
  done: z.number().optional(),
});

/** The process of a worker, with its output so far. */
export interface TestWorker {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown>;
  /** Shard numbers. */
  readonly begun: readonly number[];
  readonly done: readonly number[];
  readonly notes: readonly string[];
}

export class TestFleet {
  readonly shell: FleetShell = new FleetShell();
  private readonly redis: OneRedis;
  private readonly workers: TestWorker[] = [];

  constructor(redis: OneRedis) {
    this.redis = redis;
  }

  /** Runs the scenario in one process, for comparison. */
  async alone(): Promise<Outcome> {
    const ended = await this.shell.start('alone', ['run', ...SWEPT]).ended;
    return this.outcomeOf('alone', ended);
  }

  /**
   * Starts a coordinator in the folder `place`. A second call with the same folder restarts the
   * sweep.
   */
  sweep(place: string, options: readonly string[] = ['--shards', `${SHARDS}`]): Started {
    return this.shell.start(place, ['sweep', ...SWEPT, ...options], this.redis.url);
  }

  /** Starts a worker. Resolves once it is ready. */
  async work(
    order: { readonly version?: string; readonly mode?: string } = {},
  ): Promise<TestWorker> {
    const { version = versionHere(), mode = 'runs' } = order;
    const args = [SCRIPT, JSON.stringify({ url: this.redis.url, version, mode })];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const [begun, done, notes]: [number[], number[], string[]] = [[], [], []];
    createInterface({ input: child.stdout }).on('line', (text) => {
      const line = lineSchema.parse(JSON.parse(text));
      if (line.begun !== undefined) begun.push(line.begun);
      if (line.done !== undefined) done.push(line.done);
      if (line.note !== undefined) notes.push(line.note);
    });
    const ended = new Promise((resolve) => child.once('close', resolve));
    const worker = { child, ended, begun, done, notes };
    this.workers.push(worker);
    await until('it is ready', () => notes.includes('ready'));
    return worker;
  }

  get done(): readonly number[] {
    return this.workers.flatMap(({ done }) => done);
  }

  async ended(place: string, started: Started): Promise<Outcome> {
    return this.outcomeOf(place, await started.ended);
  }

  /** Waits until the sweep has printed its id and all jobs are on the queue. Resolves to the id. */
  async added(started: Started): Promise<string> {
    await said(started, /sweep [0-9a-f]{16}: seeds/);
    const [, id = ''] = /sweep ([0-9a-f]{16}):/.exec(started.said()) ?? [];
    await until('its jobs are added', async () => (await this.jobs()).length >= SHARDS);
    return id;
  }

  /** Returns the Redis keys of all jobs. */
  async jobs(): Promise<readonly string[]> {
    return await this.redis.server.ask((redis) => redis.keys('fencepost:shards:*-of-*[0-9]'));
  }

  /** Kills all processes, and empties the queue. */
  async end(): Promise<void> {
    for (const { child } of this.workers) child.kill('SIGKILL');
    await Promise.all(this.workers.map(({ ended }) => ended));
    await this.shell.kill();
    this.workers.length = 0;
    await this.redis.server.ask((redis) => redis.flushall());
  }

  private outcomeOf(place: string, { code, out, err }: Ended): Outcome {
    const folder = join(this.shell.folder, place, 'reports');
    const names = readdirSync(folder).sort();
    const plans = names.filter((name) => name.endsWith('.yaml'));
    const lines = out.replaceAll(/"(seeds|events)PerSecond":\d+/g, '"$1PerSecond":0');
    const texts = plans.map((name) => readFileSync(join(folder, name), 'utf8'));
    return { result: { code, lines, names, texts }, err };
  }
}

/** The result of a command, and its stderr. */
export interface Outcome {
  /** The exit code, the lines of stdout, and the names and plans in `reports`. */
  readonly result: {
    readonly code: number | null;
    readonly lines: string;
    readonly names: readonly string[];
    readonly texts: readonly string[];
  };
  readonly err: string;
}

export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await isSo()); tries += 1) {
    if (tries > 3_000) throw new Error(`timed out after a minute, waiting until ${what}`);
    await sleep(20);
  }
}

export function versionHere(): string {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
}
