/** A real `redis-server` on loopback, and a client that speaks its protocol over a bare socket. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { errorOf, NIL, type RedisCommand, type RedisReply } from './reply.ts';

/** Whether there is a `redis-server` to be started. */
export function hasRealRedis(): boolean {
  return spawnSync('redis-server', ['--version']).status === 0;
}

/** A port that nobody listens at. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

export class RealRedis {
  private readonly process: ChildProcess;
  private readonly socket: Socket;
  private received: Buffer = Buffer.alloc(0);
  private readonly waiting: ((reply: RedisReply) => void)[] = [];

  private constructor(process: ChildProcess, socket: Socket) {
    this.process = process;
    this.socket = socket;
    socket.on('data', (bytes) => this.receive(bytes));
  }

  static async start(): Promise<RealRedis> {
    const port = await freePort();
    const options = ['--save', '', '--appendonly', 'no', '--bind', '127.0.0.1'];
    const process = spawn('redis-server', [...options, '--port', String(port)], {
      stdio: 'ignore',
    });
    for (let tries = 0; tries < 100; tries += 1) {
      const socket = connect(port, '127.0.0.1');
      try {
        await once(socket, 'connect');
        return new RealRedis(process, socket);
      } catch {
        await wait(50);
      }
    }
    process.kill();
    throw new Error('redis-server does not answer');
  }

  async stop(): Promise<void> {
    this.socket.destroy();
    const isOver = once(this.process, 'exit');
    this.process.kill();
    await isOver;
  }

  send(command: RedisCommand): Promise<RedisReply> {
    const parts = command.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`);
    this.socket.write(`*${command.length}\r\n${parts.join('')}`);
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  private receive(bytes: Buffer): void {
    this.received = Buffer.concat([this.received, bytes]);
    for (;;) {
      const read = readReply(this.received, 0);
      if (read === null) return;
      this.received = this.received.subarray(read.end);
      this.waiting.shift()?.(read.reply);
    }
  }
}

interface Read {
  readonly reply: RedisReply;
  readonly end: number;
}

/** The reply that begins at `from`; null while a part of it is missing. */
function readReply(bytes: Buffer, from: number): Read | null {
  const lineEnd = bytes.indexOf('\r\n', from);
  if (lineEnd === -1) return null;
  const line = bytes.toString('utf8', from + 1, lineEnd);
  const end = lineEnd + 2;
  switch (String.fromCharCode(bytes[from] ?? 0)) {
    case '+':
      return { reply: { status: line }, end };
    case '-':
      return { reply: errorOf(line), end };
    case ':':
      return { reply: Number(line), end };
    case '$':
      return readBulk(bytes, end, Number(line));
    case '*':
      return readList(bytes, end, Number(line));
    default:
      throw new Error(`no reply: ${line}`);
  }
}

function readBulk(bytes: Buffer, from: number, length: number): Read | null {
  if (length === -1) return { reply: NIL, end: from };
  const end = from + length + 2;
  return bytes.length < end ? null : { reply: bytes.toString('utf8', from, end - 2), end };
}

function readList(bytes: Buffer, from: number, length: number): Read | null {
  if (length === -1) return { reply: NIL, end: from };
  const items: RedisReply[] = [];
  let end = from;
  while (items.length < length) {
    const read = readReply(bytes, end);
    if (read === null) return null;
    items.push(read.reply);
    end = read.end;
  }
  return { reply: items, end };
}
