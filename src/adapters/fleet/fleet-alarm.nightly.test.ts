/**
 * What people are told where a chunk of a sweep on a queue came to two results: the built command
 * line on a real Redis. Left out where there is no `redis-server`.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Queue } from 'bullmq';
import { afterAll, afterEach, expect, vi } from 'vitest';
import { parse } from 'yaml';
import { root } from '../../cli/command-line.fixture.ts';
import { EMPTY_TALLY } from '../../search/sweep/tally.ts';
import { FleetShell, type Started, said } from './fleet-shell.fixture.ts';
import { OneRedis } from './trial/one-redis.fixture.ts';

const zombie = join(root, 'fixtures/zombie-writer.yaml');
const shell = new FleetShell();

// Processes start and end many times, on machines that may be busy.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

const WAIT = { timeout: 60_000 };
const redis = new OneRedis();
const onRedis = redis.test;

afterEach(() => shell.kill());

afterAll(() => shell.remove());

/** Begins a sweep, and has a result of its first chunk come that is wrong in every system. */
async function beginWithWrong(place: string, args: readonly string[]): Promise<Started> {
  const begun = shell.start(place, args, redis.url);
  await said(begun, /sweep s[0-9a-f]{15}: \d+ chunks/);
  const [, id = '', seeds = ''] =
    /sweep (s[0-9a-f]{15}): .* of ([\d,]+) seeds/.exec(begun.said()) ?? [];
  const chunkSeeds = Number(seeds.replaceAll(',', ''));
  const connection = { host: '127.0.0.1', port: redis.port };
  const open = (name: string): Queue => new Queue(name, { connection, prefix: 'fencepost' });
  const [work, sweeps, late] = [open(`work-${id}`), open('sweeps'), open(`late-${id}`)];
  // What is counted before is not given to a worker.
  await vi.waitUntil(async () => (await work.getJob(`${id}-0`)) !== undefined, WAIT);
  const record = (await sweeps.getJob(id))?.data.sweep;
  const names: readonly string[] = Object.keys(parse(record.text).systems);
  const tally = { ...EMPTY_TALLY, seeds: chunkSeeds };
  const tallies = Object.fromEntries(names.map((name) => [name, tally]));
  const { from } = record.range;
  const wrong = { chunk: 0, from, to: from + chunkSeeds - 1, tallies, milliseconds: 1 };
  await late.add('late', wrong, { jobId: `${id}-0-of-a-zombie` });
  await Promise.all([work.close(), sweeps.close(), late.close()]);
  return begun;
}

/** Systems whose names give the same name of a file; the second breaks its claims. */
function writeTwins(): string {
  const text = readFileSync(zombie, 'utf8');
  const own = /^( {2})unfenced:(\n[\s\S]*?)^ {2}fenced:(\n[\s\S]*?)(?=^\n)/m;
  const file = join(shell.folder, 'twins.yaml');
  writeFileSync(file, text.replace(own, '$1a+b:$3$1a~b:$2'));
  return file;
}

onRedis('sweeps on a queue end with 4 where a chunk came to two results', async () => {
  // Several chunks: what comes last must not be the one that came twice.
  const flags = ['--seeds', '6000', '--workers', '1', '--chunk-seconds', '1'];
  const begun = await beginWithWrong('alarm', ['sweep', writeTwins(), ...flags]);
  shell.start('worker', ['worker', '--workers', '1'], redis.url);
  const { code, out, err } = await begun.ended;
  expect(err).toMatch(/nondeterministic: chunk 1, seeds 0\.\.\d+ of a\+b, a~b, came to two/);
  expect(out).toMatch(
    /: seeds 0\.\.\d+ of .* two results; here .* the one that is not counted: machines differ/,
  );
  expect(out).toMatch(/npx --no-install fencepost run \S+ --seeds 0\.\.\d+ --check-determinism/);
  expect(code).toBe(4);
  // What was shrunk while the sweep went on is where, and what, it is at the end.
  const plans = readdirSync(join(shell.folder, 'alarm/reports')).filter((name) =>
    name.endsWith('.yaml'),
  );
  const first = 'zombie-writer-a-b-2-grant-order.yaml';
  expect(plans).toContain(first);
  // Where the second chunk begins is up to the machine, and so is whether a second kind is found.
  for (const name of plans) expect(name).toMatch(/^zombie-writer-a-b-2-grant-order(?:-2)?\.yaml$/);
  expect(err).toContain(`shrunk so far: reports/${first}`);
  expect(err).toContain('of a~b: as a worker has shrunk it');
});

/**
 * On few seeds, the lock refuses another number of requests each time that one of them is run: it
 * goes by a count of the process, of which no simulation knows.
 */
function writeFickleLock(place: string): string {
  const read = (name: string): string => readFileSync(join(root, 'fixtures/modules', name), 'utf8');
  const module = read('spin-lock.mjs')
    .replace(/^/, "import { AsyncResource } from 'node:async_hooks';\n")
    .replace('class SpinServer {', 'class SpinServer {\n  refusals = 0;')
    .replace(
      'if (holder !== undefined && ',
      `if (turn.monotonicUs % 1009 === 100) this.refusals = new AsyncResource('a').asyncId() % 5;
    this.refusals -= 1;
    if (this.refusals >= 0) {
      this.book.deny(turn, { lock, client, holder: client });
      return { kind: 'denied', holder: client };
    }
    if (holder !== undefined && `,
    );
  writeFileSync(join(place, 'spin-lock.mjs'), module);
  const file = join(place, 'fickle.yaml');
  writeFileSync(file, read('spin-lock.yaml'));
  return file;
}

onRedis('sweeps on a queue name the seed that came to two results, and what shows it', async () => {
  const place = mkdtempSync(join(root, 'reports/fickle-'));
  try {
    const file = writeFickleLock(place);
    // On any machine chunk 0 has some of the odd seeds, and is not the only one.
    const seeds = ['--seeds', '0..3999', '--chunk-seconds', '3'];
    const flags = [...seeds, '--workers', '1', '--output', place];
    const begun = await beginWithWrong('fickle', ['sweep', file, ...flags]);
    shell.start('worker', ['worker', '--workers', '1', '--modules', place], redis.url);
    const { code, out } = await begun.ended;
    expect(code).toBe(4);
    const told =
      /: seed (\d+) of (naive|cured) came to two results; event \d+ differs: .*\n +npx --no-install fencepost (.*)/;
    const [, seed = '', system = '', command = ''] = told.exec(out) ?? [];
    expect(command).toBe(`run ${file} --seeds ${seed}..${seed} --check-determinism`);
    const shown = await shell.start('fickle', [...command.split(' '), '--output', place]).ended;
    expect([shown.code, shown.out]).toEqual([
      4,
      expect.stringMatching(new RegExp(`nondeterministic: .*, ${system}, seed ${seed}: event`)),
    ]);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
});
