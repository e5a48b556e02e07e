/**
 * What people type to sweep on a queue, and what they get: the built command line on a real Redis.
 * Left out where there is no `redis-server`.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { root } from '../../cli/command-line.fixture.ts';
import { outputLine } from '../../report/output-schema.ts';
import { readShard } from '../../search/sweep/shards.ts';
import { FleetShell, said } from './fleet-shell.fixture.ts';
import { OneRedis } from './trial/one-redis.fixture.ts';

const zombie = join(root, 'fixtures/zombie-writer.yaml');
const spinLock = join(root, 'fixtures/modules/spin-lock.yaml');
const PASSWORD = 'correct-horse-battery';

const shell = new FleetShell();
const { folder } = shell;
const fencepost = shell.start.bind(shell);

/** JSON lines without what depends on the machine. */
function linesOf(out: string): readonly unknown[] {
  const lines = out.trim().split('\n');
  return lines.map((line) =>
    JSON.parse(line, (name, value: unknown) => (/PerSecond$/.test(name) ? 0 : value)),
  );
}

// Processes start and end many times, on machines that may be busy.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

const redis = new OneRedis({ password: PASSWORD });
const onRedis = redis.test;

afterEach(() => shell.kill());

afterAll(() => shell.remove());

onRedis(
  'sweeps on a queue end as `run` does on one machine: lines, files and exit code',
  async () => {
    const flags = ['--seeds', '400', '--json', '--reporter', 'html,json'];
    const worker = fencepost('worker', ['worker', '--workers', '1'], redis.url);
    const chunks = ['--workers', '1', '--chunk-seconds', '1'];
    const fleet = await fencepost('fleet', ['sweep', zombie, ...flags, ...chunks], redis.url).ended;
    const one = await fencepost('one', ['run', zombie, ...flags]).ended;
    expect(fleet.code, fleet.err).toBe(one.code);
    expect(linesOf(fleet.out)).toEqual(linesOf(one.out));
    const files = (place: string): string[] => readdirSync(join(folder, place, 'reports')).sort();
    expect(files('fleet').filter((name) => !OF_SWEEP.test(name))).toEqual(files('one'));
    const [plan = ''] = files('one').filter((name) => name.endsWith('.yaml'));
    const text = (place: string): string =>
      readFileSync(join(folder, place, 'reports', plan), 'utf8');
    expect(text('fleet')).toBe(text('one'));
    const merge = ['merge', 'reports', '--json', '--reporter', 'html,json'];
    const merged = await fencepost('fleet', merge).ended;
    expect([merged.code, linesOf(merged.out)]).toEqual([one.code, linesOf(one.out)]);
    const shard = ['run', zombie, '--seeds', '400', '--shard', '1/1'];
    expect((await fencepost('shard', shard).ended).code).toBe(0);
    const own = files('fleet').find((name) => OF_SWEEP.test(name)) ?? '';
    expect(tallyText(`fleet/reports/${own}`)).toBe(tallyText('shard/reports'));
    worker.child.kill('SIGTERM');
    expect((await worker.ended).code).toBe(0);
  },
);

/** The folder of one sweep's own. */
const OF_SWEEP = /-s[0-9a-f]{15}$/;

/** What the only shard in a place came to, byte for byte. */
function tallyText(place: string): string {
  const file = join(folder, place, 'shard-1-of-1.json');
  const read = readShard(readFileSync(file, 'utf8'));
  if (read.kind === 'problem') throw new Error(read.what);
  return JSON.stringify(read.shard.scenarios.map(({ tallies }) => tallies));
}

onRedis(
  'sweeps on a queue never print the password, whatever goes wrong, and workers listen nowhere',
  async () => {
    const worker = fencepost('worker', ['worker', '--workers', '1', '--queue', redis.url]);
    await said(worker, /worker on redis/);
    expect(listening(worker.child.pid ?? 0)).toEqual([]);
    const wrong = redis.url.replace(PASSWORD, `not-${PASSWORD}`);
    const nowhere = redis.url.replace(String(redis.port), '1');
    const all = await Promise.all(
      [
        fencepost('a', ['sweep', 'status', redis.url]),
        fencepost('a', ['sweep', 'status'], redis.url),
        fencepost('a', ['sweep', 'status', wrong]),
        fencepost('a', ['worker', '--queue', wrong]),
        fencepost('a', ['sweep', zombie, '--queue', nowhere]),
        fencepost('a', ['sweep', 'tail', `${redis.url}/what`]),
        fencepost('a', ['worker', '--help'], redis.url),
      ].map(({ ended }) => ended),
    );
    expect(all.map(({ code }) => code)).toEqual([0, 0, 2, 2, 2, 2, 0]);
    expect(all.map(({ out, err }) => out + err).join('') + worker.said()).not.toContain(PASSWORD);
    expect(all[2]?.err).toContain(
      `redis://***@127.0.0.1:${redis.port}: the queue cannot be reached`,
    );
  },
);

onRedis('sweeps on a queue are stopped, told of and resumed by their id', async () => {
  const chunks = ['--workers', '1', '--chunk-seconds', '1'];
  const begun = fencepost('stop', ['sweep', zombie, '--seeds', '300', ...chunks], redis.url);
  await said(begun, /sweep s[0-9a-f]{15}: \d+ chunks/);
  const [id = ''] = /s[0-9a-f]{15}/.exec(begun.said()) ?? [];
  const status = await fencepost('stop', ['sweep', 'status'], redis.url).ended;
  expect(status.out).toContain(`${id}  zombie-writer, seeds 0..299`);
  expect(status.out).toContain('running; a coordinator is at work');
  const json = await fencepost('stop', ['sweep', 'status', '--json'], redis.url).ended;
  const lines = linesOf(json.out);
  for (const line of lines) expect(outputLine.safeParse(line).error).toBeUndefined();
  expect(lines).toEqual([
    expect.objectContaining({
      ...{ type: 'sweep-status', sweep: id, scenario: 'zombie-writer', from: 0, to: 299 },
      ...{ state: 'running', hasCoordinator: true },
      progress: expect.objectContaining({ runs: 0, total: 600, secondsLeft: null, kinds: {} }),
    }),
    expect.objectContaining({ type: 'queue-status', workers: 0, active: 0 }),
  ]);
  const tail = fencepost('stop', ['sweep', 'tail', id, '--json'], redis.url);
  await said(tail, /"runs":0/);
  const second = await fencepost(
    'other',
    ['sweep', zombie, '--seeds', '300', ...chunks],
    redis.url,
  );
  const refused = await second.ended;
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('another coordinator')]);
  const stop = await fencepost('stop', ['sweep', 'stop', id.slice(0, 6)], redis.url).ended;
  expect([stop.code, stop.out]).toEqual([0, expect.stringContaining(`${id} is stopped`)]);
  const tailed = linesOf((await tail.ended).out);
  for (const line of tailed) expect(outputLine.safeParse(line).error).toBeUndefined();
  expect(tailed.at(-1)).toMatchObject({ type: 'sweep-status', sweep: id, state: 'stopped' });
  expect((await begun.ended).code).toBe(130);
  fencepost('worker', ['worker', '--workers', '1'], redis.url);
  const resumed = fencepost('stop', ['sweep', 'resume', id, '--output', 'elsewhere'], redis.url);
  const { code, out } = await resumed.ended;
  expect(code).toBe(0);
  expect(out).toContain('of 300');
  expect(readdirSync(join(folder, 'stop/elsewhere'))).toContain('zombie-writer.html');
  const after = await fencepost('stop', ['sweep', 'status'], redis.url).ended;
  expect(after.out).toContain('no sweep is on this queue');
});

onRedis(
  'sweeps on a queue take no code from the queue: a worker has the modules, or leaves the sweep',
  async () => {
    const flags = ['--seeds', '40', '--workers', '1', '--chunk-seconds', '1'];
    const ended = fencepost('modules', ['sweep', spinLock, ...flags], redis.url);
    const without = fencepost('worker', ['worker', '--workers', '1'], redis.url);
    await said(without, /code does not travel; name its folder here with --modules/);
    const modules = ['--modules', join(root, 'fixtures/modules')];
    fencepost('worker', ['worker', '--workers', '1', ...modules], redis.url);
    const one = await fencepost('modules-one', ['run', spinLock, '--seeds', '40']).ended;
    expect((await ended.ended).code).toBe(one.code);
  },
);

/** Ports that a process listens on, as Linux tells; none where it tells nothing. */
function listening(pid: number): readonly string[] {
  if (process.platform !== 'linux') return [];
  const sockets = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? '';
    } catch {
      return '';
    }
  });
  const tables = ['tcp', 'tcp6'].map((name) => readFileSync(`/proc/${pid}/net/${name}`, 'utf8'));
  return tables.flatMap((table) =>
    table.split('\n').flatMap((line) => {
      const [, local = '', , state = '', , , , , , inode = ''] = line.trim().split(/\s+/);
      return state === '0A' && sockets.includes(inode) ? [local] : [];
    }),
  );
}

describe('the files for a fleet', () => {
  const read = (name: string): string => readFileSync(join(root, 'fixtures/fleet', name), 'utf8');

  test('a compose file of a queue without a port, a coordinator and workers', () => {
    const { services } = parse(read('compose.yaml'), { strict: true });
    expect(Object.keys(services).sort()).toEqual(['coordinator', 'redis', 'worker']);
    expect(services.worker.command.slice(0, 2)).toEqual(['fencepost', 'worker']);
    expect(services.redis).not.toHaveProperty('ports');
    expect(services.redis.command).toContain('noeviction');
  });

  test('a Kubernetes Job whose index is the shard', () => {
    const [job, ...others] = parseAllDocuments(read('indexed-job.yaml')).map((one) => one.toJS());
    expect(others).toEqual([]);
    expect(job).toMatchObject({ apiVersion: 'batch/v1', kind: 'Job' });
    expect(job.spec).toMatchObject({ completionMode: 'Indexed' });
    const [container] = job.spec.template.spec.containers;
    expect(container.command.join(' ')).toContain(`--shard "$((JOB_COMPLETION_INDEX + 1))/`);
    expect(container.command.join(' ')).toContain(`/${job.spec.completions}"`);
    expect(job.spec.template.spec.restartPolicy).toBe('Never');
  });
});
