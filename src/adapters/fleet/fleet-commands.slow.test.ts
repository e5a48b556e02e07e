/**
 * Tests the commands `sweep` and `worker`: the built command line on a real Redis. The tests are
 * skipped if there is no `redis-server`.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { root } from '../../cli/command-line.fixture.ts';
import { FleetShell, type Started, said } from './fleet-shell.fixture.ts';
import { OneRedis } from './trial/one-redis.fixture.ts';

const zombie = join(root, 'fixtures/zombie-writer.yaml');
const PASSWORD = 'correct-horse-battery';

const KEPT = 'zombie-writer-unfenced-grant-order.yaml';
/** One system breaks a claim that should hold, and one claim that should break never does. */
const SCENARIO = `
name: parts
systems:
  unfenced: { lock: lock-service, store: unfenced, expect: { holds: [fence-monotone] } }
  fenced: { lock: lock-service, store: fenced, expect: { holds: [fence-monotone], breaks: [tokens-unique] } }
clients: { count: 2, ttl: 10ms, sections: 2, think: 0ms..10ms }
workload: { kind: blind-writes }
network: { latency: 1ms..2ms }
faults: [{ pause: { process: clients, before: write, for: 1ms..40ms, chance: 1/2 } }]
`;

const shell = new FleetShell();
const { folder } = shell;
const fencepost = shell.start.bind(shell);

/** Parses JSON lines, without the speed of the machine. */
function linesOf(out: string): readonly unknown[] {
  const lines = out.trim().split('\n');
  return lines.map((line) =>
    JSON.parse(line, (name, value: unknown) => (/PerSecond$/.test(name) ? 0 : value)),
  );
}

// Processes start and end often, on a machine that may be busy.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

const redis = new OneRedis({ password: PASSWORD });
const onRedis = redis.test;

afterEach(() => shell.kill());

afterAll(() => shell.remove());

onRedis(
  'a sweep on a queue has the lines, files and exit code of `run` on one machine',
  async () => {
    const flags = ['--seeds', '7..96', '--json', '--reporter', 'html,json,junit'];
    for (const place of ['fleet', 'one']) shell.write(place, 'parts.yaml', SCENARIO);
    const kept = readFileSync(join(root, 'fixtures/plans', KEPT), 'utf8');
    const plan = kept.replace('scenario: zombie-writer', 'scenario: parts');
    for (const place of ['fleet', 'one']) {
      shell.write(place, 'plans/fixed.yaml', plan.replace('store: unf', 'store: f'));
    }
    const worker = fencepost('worker', ['worker', '--workers', '1'], redis.url);
    const fleetWorker = startWorker(redis.url);
    const swept = ['parts.yaml', zombie, '--shards', '5', ...flags];
    const fleet = await fencepost('fleet', ['sweep', ...swept], redis.url).ended;
    const one = await fencepost('one', ['run', 'parts.yaml', zombie, ...flags]).ended;
    expect(fleet.code, fleet.err).toBe(one.code);
    expect(one.code).toBe(1);
    expect(linesOf(fleet.out)).toEqual(linesOf(one.out));
    expect(fleet.err).toContain('✗ kept plan plans/fixed.yaml is fixed, expected reproduced');
    expect(filesOf('fleet')).toEqual(filesOf('one'));
    expect(Object.keys(filesOf('one')).length).toBeGreaterThan(5);
    worker.child.kill('SIGTERM');
    expect((await worker.ended).code).toBe(0);
    fleetWorker.child.kill('SIGTERM');
    const { code, out } = await fleetWorker.ended;
    expect(code, out).toBe(0);
    const [mine, theirs] = [out, worker.said()].map((text) => text.match(/shard \d of 5/g) ?? []);
    expect([...(mine ?? []), ...(theirs ?? [])].sort()).toEqual(
      [1, 2, 3, 4, 5].map((index) => `shard ${index} of 5`),
    );
  },
);

/** A worker in a user's program. */
function startWorker(queue: string): Started {
  const program = `
    import { startWorker } from ${JSON.stringify(join(root, 'dist/fleet.js'))};
    const queue = process.env.FENCEPOST_QUEUE;
    const worker = await startWorker({ queue, threads: 1, onShard: (line) => console.log(line) });
    process.on('SIGTERM', () => worker.close());
  `;
  shell.write('own', 'worker.mjs', program);
  return shell.run('own', ['worker.mjs'], queue);
}

/** Returns every file of a command by name, without what differs between runs. */
function filesOf(place: string): Readonly<Record<string, string>> {
  const reports = join(folder, place, 'reports');
  return Object.fromEntries(
    readdirSync(reports).map((name) => {
      const text = readFileSync(join(reports, name), 'utf8');
      return [
        name,
        text
          .replaceAll(join(folder, place), '')
          .replace(/"(seeds|events)PerSecond":\s*\d+/g, '"$1PerSecond":0')
          .replace(/[\d,]+ seeds\/s, [\d,]+ events\/s/g, '0 seeds/s, 0 events/s')
          .replace(/ time="[\d.]+"/g, ' time="0"'),
      ];
    }),
  );
}

onRedis(
  'neither command prints the password after any error, and workers open no port',
  async () => {
    const worker = fencepost('worker', ['worker', '--workers', '1', '--queue', redis.url]);
    await said(worker, /worker on redis/);
    expect(listening(worker.child.pid ?? 0)).toEqual([]);
    const wrong = redis.url.replace(PASSWORD, `not-${PASSWORD}`);
    const nowhere = redis.url.replace(String(redis.port), '1');
    const all = await Promise.all(
      [
        fencepost('a', ['sweep', zombie, '--seeds', '9'], redis.url),
        fencepost('b', ['sweep', redis.url]),
        fencepost('c', ['sweep', zombie], wrong),
        fencepost('d', ['worker', '--queue', wrong]),
        fencepost('e', ['sweep', zombie, '--queue', nowhere]),
        fencepost('f', ['worker', '--queue', `${redis.url}/what`]),
        fencepost('g', ['worker', '--help'], redis.url),
      ].map(({ ended }) => ended),
    );
    expect(all.map(({ code }) => code)).toEqual([0, 2, 2, 2, 2, 2, 0]);
    expect(all.map(({ out, err }) => out + err).join('') + worker.said()).not.toContain(PASSWORD);
    expect(all[2]?.err).toContain(`redis://***@127.0.0.1:${redis.port}: queue not reachable`);
  },
);

/** Returns the ports on which a process listens, or none on other systems than Linux. */
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

describe('the example files of a fleet', () => {
  const read = (name: string): string => readFileSync(join(root, 'fixtures/fleet', name), 'utf8');

  test('have a compose file of a queue without a port, a coordinator and workers', () => {
    const { services } = parse(read('compose.yaml'), { strict: true });
    expect(Object.keys(services).sort()).toEqual(['coordinator', 'redis', 'worker']);
    expect(services.worker.command.slice(0, 2)).toEqual(['fencepost', 'worker']);
    expect(services.redis).not.toHaveProperty('ports');
    expect(services.redis.command).toContain('noeviction');
  });

  test('have a Kubernetes Job whose index is the shard', () => {
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
