/** A real PostgreSQL on its own socket. Each session is a `psql`, one statement per line. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';

const DEBIAN = '/usr/lib/postgresql';

/** Returns the folder of PostgreSQL's programs, or null if it is not installed. */
export async function postgresPrograms(): Promise<string | null> {
  const versions = existsSync(DEBIAN) ? await readdir(DEBIAN) : [];
  const found = versions.map((version) => join(DEBIAN, version, 'bin'));
  return found.find((folder) => existsSync(join(folder, 'initdb'))) ?? null;
}

/**
 * Returns the user of Debian's package if run as root, since PostgreSQL refuses root. Otherwise
 * returns null.
 */
function owner(): { readonly uid: number; readonly gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const idOf = (flag: string): number => Number(spawnSync('id', [flag, 'postgres']).stdout);
  return { uid: idOf('-u'), gid: idOf('-g') };
}

export class RealPostgres {
  private readonly folder: string;
  private readonly server: ChildProcess;
  private readonly sessions: RealSession[] = [];

  private constructor(folder: string, server: ChildProcess) {
    this.folder = folder;
    this.server = server;
  }

  static async start(programs: string): Promise<RealPostgres> {
    const folder = await mkdtemp(join(tmpdir(), 'real-postgres-'));
    const as = owner();
    if (as !== null) chownSync(folder, as.uid, as.gid);
    const data = join(folder, 'data');
    const made = spawnSync(
      join(programs, 'initdb'),
      ['-D', data, '-A', 'trust', '-U', 'tester', '--no-sync', '--locale', 'C'],
      { ...as, cwd: folder },
    );
    if (made.status !== 0) throw new Error(String(made.stderr));
    const where = ['-c', 'listen_addresses=', '-c', `unix_socket_directories=${folder}`];
    const fast = ['-c', 'fsync=off', '-c', 'shared_buffers=1MB', '-c', 'log_min_messages=fatal'];
    const server = spawn(join(programs, 'postgres'), ['-D', data, ...where, ...fast], {
      ...as,
      cwd: folder,
      stdio: 'ignore',
    });
    const postgres = new RealPostgres(folder, server);
    for (let tries = 0; tries < 100; tries += 1) {
      if (spawnSync('pg_isready', ['-h', folder]).status === 0) return postgres;
      await wait(100);
    }
    await postgres.stop();
    throw new Error('postgres does not answer');
  }

  connect(): RealSession {
    const session = new RealSession(this.folder);
    this.sessions.push(session);
    return session;
  }

  async stop(): Promise<void> {
    for (const session of this.sessions) await session.close();
    if (this.server.exitCode === null) {
      this.server.kill('SIGINT');
      await once(this.server, 'exit');
    }
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** One connection. */
export class RealSession {
  private readonly psql: ChildProcess;
  private readonly lines: AsyncIterator<string>;

  constructor(folder: string) {
    const args = ['-h', folder, '-U', 'tester', '-d', 'postgres', '-qAtX'];
    this.psql = spawn('psql', args, { stdio: ['pipe', 'pipe', 'ignore'] });
    const { stdout } = this.psql;
    if (stdout === null) throw new Error('psql has no output');
    this.lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  }

  /** Returns the single value of a statement. */
  async ask(statement: string): Promise<string> {
    this.psql.stdin?.write(`${statement};\n`);
    const line = await this.lines.next();
    return line.done === true ? '' : line.value;
  }

  async close(): Promise<void> {
    if (this.psql.exitCode !== null) return;
    const exited = once(this.psql, 'exit');
    this.psql.stdin?.end();
    await exited;
  }
}
