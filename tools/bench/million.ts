/**
 * Measures a million seeds on a queue with three workers, two of which are killed during the run;
 * throws if the results differ from those of the same seeds in one process.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Fleet } from '../../src/adapters/fleet/coordinate.ts';
import { type Row, type Subject, wallRatio } from './measure.ts';
import { type RedisPlace, withRedis } from './user-redis.ts';

const SEEDS = 1_000_000;
const SCENARIO = fileURLToPath(new URL('../../fixtures/zombie-writer.yaml', import.meta.url));
const CLI = fileURLToPath(new URL('../../src/cli.js', import.meta.url));
const SHARDS = 60;
const POLL_MS = 500;
/** Share of shards that are done when each worker is killed; the third one continues alone. */
const KILLED_AT = [0.2, 0.5];

interface Ended {
  readonly code: number | null;
  /** Its JSON lines without times and speeds. */
  readonly lines: string;
  readonly milliseconds: number;
}

function start(args: readonly string[], queue: string | null): ChildProcess {
  const env = {
    ...process.env,
    NO_COLOR: '1',
    ...(queue === null ? {} : { FENCEPOST_QUEUE: queue }),
  };
  return spawn(process.execPath, [CLI, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
}

async function ended(child: ChildProcess, startedMs: number): Promise<Ended> {
  let out = '';
  child.stdout?.on('data', (part: Buffer) => {
    out += part.toString();
  });
  const [code]: (number | null)[] = await once(child, 'close');
  const lines = out.replaceAll(/"(?:seeds|events)PerSecond":\d+,/g, '');
  return { code: code ?? null, lines, milliseconds: performance.now() - startedMs };
}

function command(name: 'run' | 'sweep', output: string): readonly string[] {
  const args = [name, SCENARIO, '--seeds', `1..${SEEDS}`];
  return [...args, '--json', '--quiet', '--reporter', 'json', '--output', output];
}

/** Kills a worker at each of these shares; returns the number of killed workers. */
async function killOnTheWay(
  victims: readonly ChildProcess[],
  place: RedisPlace,
  isOver: () => boolean,
): Promise<number> {
  const fleet = await Fleet.open(place);
  let kills = 0;
  while (!isOver() && kills < victims.length) {
    await sleep(POLL_MS);
    const done = (await fleet.queue.getRanges(['completed'], 0, -1)).length;
    if (done / SHARDS < (KILLED_AT[kills] ?? Infinity)) continue;
    victims[kills]?.kill('SIGKILL');
    kills += 1;
  }
  fleet.close();
  return kills;
}

async function sweepWithDeaths(place: RedisPlace, output: string): Promise<Ended> {
  const url = `redis://${place.host}:${place.port}`;
  const victims = KILLED_AT.map(() => start(['worker', '--workers', '1', '--quiet'], url));
  const survivor = start(['worker', '--workers', '1', '--quiet'], url);
  const startedMs = performance.now();
  let isOver = false;
  const coordinator = ended(
    start([...command('sweep', output), '--shards', `${SHARDS}`], url),
    startedMs,
  );
  const killing = killOnTheWay(victims, place, () => isOver);
  const result = await coordinator;
  isOver = true;
  const kills = await killing;
  survivor.kill('SIGTERM');
  await once(survivor, 'close');
  if (kills !== victims.length) throw new Error(`only ${kills} workers were killed`);
  return result;
}

async function* rows(): AsyncIterable<Row> {
  const folder = mkdtempSync(join(tmpdir(), 'fencepost-million-'));
  try {
    const output = join(folder, 'reports');
    const fleet = await withRedis((place) => sweepWithDeaths(place, output));
    if (fleet === null) {
      const what = 'a million seeds: there is no redis-server';
      yield { what, cpu: '', wall: '', ratio: '', target: '' };
      return;
    }
    const unsharded = await ended(start(command('run', output), null), performance.now());
    if (fleet.lines !== unsharded.lines || fleet.code !== unsharded.code) {
      throw new Error(`the fleet printed\n${fleet.lines}\nand one process\n${unsharded.lines}`);
    }
    yield {
      what: `${SEEDS} seeds, three workers of one thread, two of them killed`,
      cpu: '',
      wall: `${(fleet.milliseconds / 1000).toFixed(0)} s`,
      ratio: `${wallRatio(fleet.milliseconds, unsharded.milliseconds)} the time of \`run\`, same result`,
      target: 'the same result',
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const million: Subject = {
  name: 'million',
  about: 'a million seeds on a queue whose workers are killed, against one process (--long)',
  isLong: true,
  rows,
};
