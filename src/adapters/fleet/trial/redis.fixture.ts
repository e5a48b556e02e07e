/** A Redis server on loopback that a test can kill and restart. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '../../../host/redis/real-redis.fixture.ts';

export class RedisServer {
  readonly port: number;
  readonly url: string;
  private readonly folder: string;
  private readonly options: readonly string[];
  private server: ChildProcess | null = null;

  private constructor(port: number, options: readonly string[]) {
    this.port = port;
    this.url = `redis://127.0.0.1:${port}`;
    this.folder = mkdtempSync(join(tmpdir(), 'fencepost-redis-'));
    this.options = options;
  }

  /** Starts a server that persists its data, unless `options` override that. */
  static async start(options: readonly string[] = []): Promise<RedisServer> {
    const redis = new RedisServer(await freePort(), options);
    await redis.begin();
    return redis;
  }

  async restart(what: 'with its data' | 'without its data'): Promise<void> {
    await this.kill();
    if (what === 'without its data') {
      rmSync(join(this.folder, 'appendonlydir'), { recursive: true, force: true });
    }
    await this.begin();
  }

  async withText(text: string): Promise<readonly string[]> {
    return await this.ask((redis) => redis.keys(`*${text}*`));
  }

  async ask<Answer>(question: (redis: Redis) => Promise<Answer>): Promise<Answer> {
    const redis = new Redis(this.url);
    try {
      return await question(redis);
    } finally {
      redis.disconnect();
    }
  }

  /** Suspends the server, which then accepts connections without answering. */
  pause(): void {
    this.server?.kill('SIGSTOP');
  }

  goOn(): void {
    this.server?.kill('SIGCONT');
  }

  async end(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async begin(): Promise<void> {
    const flags = ['--port', `${this.port}`, '--bind', '127.0.0.1', '--dir', this.folder];
    const kept = ['--save', '', '--appendonly', 'yes'];
    this.server = spawn('redis-server', [...flags, ...kept, ...this.options], { stdio: 'ignore' });
    for (let tries = 0; !(await answers(this.port)); tries += 1) {
      if (tries > 100) throw new Error('redis-server does not answer');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  private async kill(): Promise<void> {
    const { server } = this;
    if (server === null) return;
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGKILL');
    await ended;
    this.server = null;
  }
}

/** Resolves to true if a server answers, even if it requires a password. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.once('data', (reply) => {
      resolve(/^(\+PONG|-NOAUTH)/.test(String(reply)));
      socket.destroy();
    });
    socket.once('error', () => resolve(false));
  });
}
