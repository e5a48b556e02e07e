/** A PostgreSQL of the test's own, on loopback, that can be killed and started again. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../../../host/redis/real-redis.fixture.ts';
import type { QueueServer } from './server.fixture.ts';

/** Where Debian keeps the programs of each version, which are not on the PATH. */
const DEBIAN = '/usr/lib/postgresql';

interface Programs {
  /** Before the name of each program; empty where they are on the PATH. */
  readonly folder: string;
  /** Who runs them: as root they refuse to. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
}

/** Null where there is no PostgreSQL to start, or nobody who may start it. */
export function findPostgres(): Programs | null {
  const versions = existsSync(DEBIAN)
    ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a))
    : [];
  const folders = ['', ...versions.map((version) => `${DEBIAN}/${version}/bin/`)];
  const folder = folders.find((one) => spawnSync(`${one}initdb`, ['--version']).status === 0);
  if (folder === undefined) return null;
  if (process.getuid?.() !== 0) return { folder, owner: null };
  const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, 'postgres']));
  if (uid?.status !== 0 || gid?.status !== 0) return null;
  return { folder, owner: { uid: Number(uid.stdout), gid: Number(gid.stdout) } };
}

const USER = 'fencepost user';
/** Every character but the letters has to be escaped in a URL. */
const PASSWORD = 'p@ss:/w%rd?#';
/** The password as it is, and as it stands in a URL. */
export const SECRETS: readonly string[] = [PASSWORD, encodeURIComponent(PASSWORD)];

/** Servers that begin with the same empty data, which takes long to make. */
export class PostgresServers {
  private readonly programs: Programs;
  private readonly folder: string = mkdtempSync(join(tmpdir(), 'fencepost-postgres-'));

  constructor(programs: Programs) {
    this.programs = programs;
    const { owner } = programs;
    const secret = join(this.folder, 'password');
    writeFileSync(secret, PASSWORD);
    if (owner !== null) {
      for (const path of [this.folder, secret]) chownSync(path, owner.uid, owner.gid);
    }
    const flags = ['--username', USER, '--pwfile', secret, '--auth', 'scram-sha-256', '--no-sync'];
    const { status, stderr } = spawnSync(
      `${programs.folder}initdb`,
      ['--pgdata', this.empty, ...flags],
      { ...owner, cwd: this.folder, encoding: 'utf8' },
    );
    if (status !== 0) throw new Error(`initdb: ${stderr}`);
  }

  async start(): Promise<PostgresServer> {
    const { programs, folder, empty } = this;
    const server = new PostgresServer({ programs, folder, empty, port: await freePort() });
    await server.begin();
    return server;
  }

  /** After the servers. */
  end(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private get empty(): string {
    return join(this.folder, 'empty');
  }
}

interface ServerPlace {
  readonly programs: Programs;
  readonly folder: string;
  /** The data to begin with. */
  readonly empty: string;
  readonly port: number;
}

export class PostgresServer implements QueueServer {
  readonly url: string;
  private readonly place: ServerPlace;
  private readonly data: string;
  private server: ChildProcess | null = null;

  constructor(place: ServerPlace) {
    this.place = place;
    this.data = join(place.folder, `data-${place.port}`);
    const credentials = [USER, PASSWORD].map(encodeURIComponent).join(':');
    this.url = `postgres://${credentials}@127.0.0.1:${place.port}/postgres`;
    this.renew();
  }

  async restart(what: 'with its data' | 'without its data'): Promise<void> {
    await this.kill();
    if (what === 'without its data') this.renew();
    await this.begin();
  }

  async withText(text: string): Promise<readonly string[]> {
    const client = new pg.Client(this.url);
    await client.connect();
    try {
      const tables = await client.query(
        "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'fencepost'",
      );
      const found: string[] = [];
      for (const { name } of tables.rows) {
        // What happened to all records is a log of BullMQ's, which is bounded.
        const own = name === 'event' ? "AND queue <> 'sweeps'" : '';
        const sql = `SELECT t::text AS row FROM fencepost."${name}" t WHERE t::text LIKE $1 ${own}`;
        const { rows } = await client.query(sql, [`%${text}%`]);
        for (const { row } of rows) found.push(`${name}: ${row}`);
      }
      return found;
    } finally {
      await client.end();
    }
  }

  async end(): Promise<void> {
    await this.kill();
    rmSync(this.data, { recursive: true, force: true });
  }

  async begin(): Promise<void> {
    const { programs, folder, port } = this.place;
    const settings = {
      ...{ listen_addresses: '127.0.0.1', port, unix_socket_directories: '' },
      ...{ fsync: 'off', shared_buffers: '16MB' },
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    this.server = spawn(`${programs.folder}postgres`, ['-D', this.data, ...flags], {
      ...programs.owner,
      cwd: folder,
      stdio: 'ignore',
    });
    for (let tries = 0; !(await answers(this.url)); tries += 1) {
      if (tries > 200) throw new Error('postgres does not answer');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  private renew(): void {
    rmSync(this.data, { recursive: true, force: true });
    spawnSync('cp', ['-a', this.place.empty, this.data]);
  }

  /** An immediate shutdown: nothing is written any more, and it has to recover when it begins. */
  async kill(): Promise<void> {
    const { server } = this;
    if (server === null) return;
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGQUIT');
    await ended;
    this.server = null;
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client(url);
  client.on('error', () => {});
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}
