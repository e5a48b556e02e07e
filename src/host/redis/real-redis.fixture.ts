/** A real `redis-server` on loopback, and a client that speaks its protocol over a plain socket. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { errorOf, NIL, NIL_LIST, type RedisCommand, type RedisReply } from './reply.ts';

/** Returns true if a `redis-server` is installed. */
export function hasRealRedis(): boolean {
  return spawnSync('redis-server', ['--version']).status === 0;
}

/** Returns true if a compiler is available for the clock of `RealServer.startFrozen`. */
export function hasCompiler(): boolean {
  return spawnSync('cc', ['--version']).status === 0;
}

/** Returns a port on which no process listens. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** A `redis-server` that runs for a test until `stop` is called. */
export class RealServer {
  private readonly process: ChildProcess;
  private readonly folder: string;
  /** Descriptor of the file that contains the frozen time, or null if the clock is not frozen. */
  private readonly clock: number | null;
  readonly port: number;

  private constructor(
    process: ChildProcess,
    { folder, port, clock }: { folder: string; port: number; clock: number | null },
  ) {
    this.process = process;
    this.folder = folder;
    this.port = port;
    this.clock = clock;
  }

  static async start(): Promise<RealServer> {
    const folder = await mkdtemp(join(tmpdir(), 'real-redis-'));
    return RealServer.launch(folder, null);
  }

  /**
   * Starts a server whose wall clock moves only by `setClock`. The server deletes an expired key
   * only when a command accesses it. Both sides of a comparison therefore see the same state at the
   * same millisecond.
   */
  static async startFrozen(us: number): Promise<RealServer> {
    const folder = await mkdtemp(join(tmpdir(), 'real-redis-'));
    const source = fileURLToPath(new URL('clock.fixture.c', import.meta.url));
    const library = join(folder, 'clock.so');
    const flags = ['-O1', '-shared', '-fPIC', '-o', library, source];
    const { status, stderr } = spawnSync('cc', flags, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`the frozen clock does not compile: ${stderr}`);
    const server = await RealServer.launch(folder, { library, file: join(folder, 'clock'), us });
    const connection = await server.connect();
    const { reply } = await connection.send(['DEBUG', 'SET-ACTIVE-EXPIRE', '0']);
    connection.close();
    if (JSON.stringify(reply) !== '{"status":"OK"}') throw new Error(JSON.stringify(reply));
    return server;
  }

  private static async launch(
    folder: string,
    frozen: { readonly library: string; readonly file: string; readonly us: number } | null,
  ): Promise<RealServer> {
    const port = await freePort();
    const options = ['--save', '', '--appendonly', 'no', '--bind', '127.0.0.1', '--dir', folder];
    if (frozen !== null) options.push('--enable-debug-command', 'yes');
    const clock = frozen === null ? null : openSync(frozen.file, 'w+');
    if (frozen !== null) writeTime(clock, frozen.us);
    const preloaded =
      frozen === null ? {} : { LD_PRELOAD: frozen.library, FROZEN_CLOCK: frozen.file };
    const child = spawn('redis-server', [...options, '--port', String(port)], {
      stdio: 'ignore',
      env: { ...process.env, ...preloaded },
    });
    return new RealServer(child, { folder, port, clock });
  }

  /** Steps the frozen clock forward or backward to a time in microseconds since 1970. */
  setClock(us: number): void {
    writeTime(this.clock, us);
  }

  async connect(): Promise<RealConnection> {
    for (let tries = 0; tries < 100; tries += 1) {
      const socket = connect(this.port, '127.0.0.1');
      try {
        await once(socket, 'connect');
        return new RealConnection(socket);
      } catch {
        await wait(50);
      }
    }
    throw new Error('redis-server does not answer');
  }

  async stop(): Promise<void> {
    const isOver = once(this.process, 'exit');
    this.process.kill();
    await isOver;
    if (this.clock !== null) closeSync(this.clock);
    await rm(this.folder, { recursive: true });
  }
}

function writeTime(clock: number | null, us: number): void {
  if (clock === null) throw new Error('this server has no frozen clock');
  writeSync(clock, BigInt64Array.of(BigInt(us)), 0, 8, 0);
}

export class RealConnection {
  private readonly socket: Socket;
  private received = '';
  private readonly unread: Read[] = [];
  private readonly waiting: ((read: Read) => void)[] = [];

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (bytes) => this.receive(bytes));
  }

  close(): void {
    this.socket.destroy();
  }

  /** Sends a command. Resolves to the reply and its bytes. */
  send(command: RedisCommand): Promise<Read> {
    this.write(command);
    return this.next();
  }

  write(command: RedisCommand): void {
    const parts = command.map((part) => `$${part.length}\r\n${part}\r\n`);
    this.socket.write(Buffer.from(`*${command.length}\r\n${parts.join('')}`, 'latin1'));
  }

  /** Sends a PING and returns all replies that arrive before the reply to it. */
  async untilMark(): Promise<readonly RedisReply[]> {
    const frames: RedisReply[] = [];
    this.write(['PING', 'mark']);
    for (;;) {
      const { reply } = await this.next();
      if (reply === 'mark' || (Array.isArray(reply) && reply[1] === 'mark')) return frames;
      frames.push(reply);
    }
  }

  private next(): Promise<Read> {
    const read = this.unread.shift();
    if (read !== undefined) return Promise.resolve(read);
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  private receive(bytes: Buffer): void {
    this.received += bytes.toString('latin1');
    for (;;) {
      const read = readReply(this.received, 0);
      if (read === null) return;
      this.received = this.received.slice(read.end);
      const reply = { reply: read.reply, bytes: read.bytes };
      const waiter = this.waiting.shift();
      if (waiter === undefined) this.unread.push(reply);
      else waiter(reply);
    }
  }
}

interface Read {
  readonly reply: RedisReply;
  readonly bytes: string;
}

interface ReadAt extends Read {
  readonly end: number;
}

/** Reads the reply that begins at `from`. Returns null while the reply is incomplete. */
export function readReply(bytes: string, from: number): ReadAt | null {
  const lineEnd = bytes.indexOf('\r\n', from);
  if (lineEnd === -1) return null;
  const line = bytes.slice(from + 1, lineEnd);
  const sign = bytes[from] ?? '';
  const is = (reply: RedisReply, end: number): ReadAt => {
    return { reply, bytes: bytes.slice(from, end), end };
  };
  const simple = simpleReply(sign, line);
  if (simple !== null) return is(simple, lineEnd + 2);
  if (sign === '$' || sign === '=') {
    const end = lineEnd + 2 + Number(line);
    if (bytes.length < end + 2) return null;
    const text = bytes.slice(lineEnd + 2, end);
    return is(sign === '$' ? text : { verbatim: text.slice(4) }, end + 2);
  }
  const items: RedisReply[] = [];
  let end = lineEnd + 2;
  for (let left = Number(line) * (sign === '%' ? 2 : 1); left > 0; left -= 1) {
    const read = readReply(bytes, end);
    if (read === null) return null;
    items.push(read.reply);
    end = read.end;
  }
  return is(listReply(sign, items), end);
}

/** Returns a reply of one line, or null if the reply has more lines. */
function simpleReply(sign: string, line: string): RedisReply | null {
  if (sign === '+') return { status: line };
  if (sign === '-') return errorOf(line);
  if (sign === ',') return { double: line };
  if (sign === '#') return { boolean: line === 't' };
  if (sign === '(') return { bigNumber: line };
  if (sign === '_' || (sign === '$' && line === '-1')) return NIL;
  if (sign === '*' && line === '-1') return NIL_LIST;
  if (sign !== ':') return null;
  return Number.isSafeInteger(Number(line)) ? Number(line) : { integer: line };
}

function listReply(sign: string, items: readonly RedisReply[]): RedisReply {
  if (sign === '*') return items;
  if (sign === '%') return { mapping: items };
  if (sign === '~') return { set: items };
  if (sign === '>') return { pushes: [items] };
  throw new Error(`no reply: ${sign}`);
}
