/**
 * The laws of sweeps on a queue, on a real PostgreSQL, and what people see who use one. Left out,
 * in one line, where there is no `postgres`.
 */
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { needs } from '../../../tools/needs.ts';
import { root } from '../../cli/command-line.fixture.ts';
import { type Connection, type OpenedQueue, openConnection } from './connection.ts';
import { FleetShell, type Started, said } from './fleet-shell.fixture.ts';
import { pack, unpack } from './packed.ts';
import { readQueueUrl } from './queue-url.ts';
import { lawsOfSweeps } from './trial/laws.fixture.ts';
import {
  findPostgres,
  type PostgresServer,
  PostgresServers,
  SECRETS,
} from './trial/postgres.fixture.ts';

const programs = findPostgres();
const isThere = programs !== null;
const onPostgres = needs('postgres', isThere);
const servers = programs === null ? null : new PostgresServers(programs);

afterAll(() => servers?.end());

async function start(): Promise<PostgresServer> {
  if (servers === null) throw new Error('there is no postgres');
  return await servers.start();
}

lawsOfSweeps({ test: onPostgres, isThere, start });

describe('on one server', () => {
  const zombie = join(root, 'fixtures/zombie-writer.yaml');
  const shell = new FleetShell();
  let url = '';
  let server: PostgresServer | null = null;

  beforeAll(async () => {
    if (!isThere) return;
    server = await start();
    url = server.url;
  });

  afterEach(() => shell.kill());

  afterAll(async () => {
    await server?.end();
    shell.remove();
  });

  async function work(): Promise<Started> {
    const worker = shell.start('worker', ['worker', '--workers', '1'], url);
    await said(worker, /worker on postgres/);
    return worker;
  }

  const WARNING = 'warning: sweeps on a queue in PostgreSQL are experimental\n';

  onPostgres('sweeps end as `run` does, and are said to be experimental', async () => {
    const worker = await work();
    const flags = [zombie, '--seeds', '200', '--json', '--reporter', 'html,json'];
    const chunks = ['--workers', '1', '--chunk-seconds', '1'];
    const fleet = await shell.start('fleet', ['sweep', ...flags, ...chunks], url).ended;
    const one = await shell.start('one', ['run', ...flags]).ended;
    expect([fleet.code, linesOf(fleet.out)], fleet.err).toEqual([one.code, linesOf(one.out)]);
    const status = await shell.start('fleet', ['sweep', 'status'], url).ended;
    expect(status.out).toMatch(/no sweep is on this queue\nworkers: 1; chunks: 0 waiting/);
    worker.child.kill('SIGTERM');
    const { code, err } = await worker.ended;
    expect(code).toBe(0);
    for (const text of [fleet.err, status.err, err]) {
      expect(text.split(WARNING), text).toHaveLength(2);
    }
  });

  onPostgres('no output has the password, whatever goes wrong', async () => {
    const wrong = url.replace('p%40', 'q%40');
    const nowhere = url.replace(/:\d+\/postgres$/, ':1/postgres');
    const all = await Promise.all(
      [
        shell.start('a', ['sweep', 'status'], url),
        shell.start('a', ['sweep', 'status', wrong]),
        shell.start('a', ['worker', '--queue', nowhere]),
        shell.start('a', ['sweep', 'tail', `${url}?sslrootcert=x`]),
        shell.start('a', ['sweep', zombie, '--queue', `${url}?sslmode=require`]),
      ].map(({ ended }) => ended),
    );
    expect(all.map(({ code }) => code)).toEqual([0, 2, 2, 2, 2]);
    expect(all.slice(1).map(({ err }) => err.replace(WARNING, ''))).toEqual([
      expect.stringMatching(/postgres:\/\/\*\*\*@127.*cannot be reached: password authentication/),
      expect.stringMatching(/cannot be reached: connect ECONNREFUSED 127.0.0.1:1$/m),
      expect.stringContaining('has options, of which only one sslmode is taken'),
      expect.stringContaining('cannot be reached: The server does not support SSL connections'),
    ]);
    const text = all.map(({ out, err }) => out + err).join('');
    for (const secret of [...SECRETS, 'q%40', 'q@ss']) expect(text).not.toContain(secret);
  });

  onPostgres('a worker takes three connections at most', async () => {
    await work();
    const client = new pg.Client(url);
    await client.connect();
    const { rows } = await client.query(
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name LIKE 'fencepost%'",
    );
    await client.end();
    expect([2, 3]).toContain(rows[0].n);
  });

  async function connect(isPatient: boolean, name: string): Promise<[Connection, OpenedQueue]> {
    const read = readQueueUrl(url);
    if (read.kind === 'problem') throw new Error(read.what);
    const connection = await openConnection(read.address, { isPatient, onError: () => {} });
    return [connection, connection.queue(name)];
  }

  onPostgres('what a worker returns comes back as it was, whatever JSON can hold', async () => {
    const [connection, queue] = await connect(false, 'results');
    const result = { longer: 1, b: '\0 \ud83d \\u0000', a: -0.5 };
    await queue.add('result', pack(result), { jobId: 'one' });
    await expect(queue.add('result', result, { jobId: 'two' })).rejects.toThrow('Unicode');
    const back = unpack((await queue.getJob('one'))?.data);
    expect(JSON.stringify(back)).toBe(JSON.stringify(result));
    await connection.close();
  });

  onPostgres('a worker waits for a server that is away, and others do not', async () => {
    const [patient, waiting] = await connect(true, 'tried');
    const [impatient, refused] = await connect(false, 'tried');
    await waiting.add('before', {}, { jobId: 'before' });
    for (const what of ['with its data', 'without its data'] as const) {
      await server?.kill();
      const added = waiting.add('after', {}, { jobId: 'after' });
      await expect(refused.getJob('before')).rejects.toThrow();
      await Promise.all([server?.restart(what), added]);
      const ids = await refused.getRanges(['waiting'], 0, 9, true);
      expect(ids).toEqual(what === 'with its data' ? ['before', 'after'] : ['after']);
    }
    await patient.close();
    await impatient.close();
  });
});

/** JSON lines without what depends on the machine. */
function linesOf(out: string): readonly unknown[] {
  const lines = out.trim().split('\n');
  return lines.map((line) =>
    JSON.stringify(
      JSON.parse(line, (name, value: unknown) => (/PerSecond$/.test(name) ? 0 : value)),
    ),
  );
}
