/** A real etcd on loopback, driven through its HTTP gateway, to compare with `EtcdState`. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';

/** Returns whether `etcd` can be started. */
export function hasEtcd(): boolean {
  return spawnSync('etcd', ['--version']).status === 0;
}

/** Numbers are strings in etcd's JSON, and 0 is omitted. */
const count = z.coerce.number().default(0);
const header = z.object({ revision: count });
const range = z.object({ kvs: z.array(z.object({ create_revision: count })).default([]) });
const reply = z.object({
  code: z.number().optional(),
  header: header.optional(),
  TTL: count,
  deleted: count,
  kvs: range.shape.kvs,
  succeeded: z.boolean().default(false),
  result: z.object({ header, TTL: count }).optional(),
  responses: z.array(z.object({ response_range: range.optional() })).default([]),
});
type Reply = z.infer<typeof reply>;

const encoded = (text: string): string => Buffer.from(text).toString('base64');
const keyOf = (lock: string, lease: number): string => encoded(`${lock}/${lease}`);
const allOf = (lock: string) => ({ key: encoded(`${lock}/`), range_end: encoded(`${lock}0`) });

export class RealEtcd {
  private readonly process: ChildProcess;
  private readonly folder: string;
  private readonly url: string;
  /** Revision of the last answer. */
  revision = 0;

  private constructor(process: ChildProcess, folder: string, url: string) {
    this.process = process;
    this.folder = folder;
    this.url = url;
  }

  static async start(): Promise<RealEtcd> {
    const folder = await mkdtemp(join(tmpdir(), 'real-etcd-'));
    const [clients, peers] = [await freeUrl(), await freeUrl()];
    const args = ['--data-dir', folder, '--unsafe-no-fsync', '--log-level', 'error'];
    const at = [
      '--listen-client-urls',
      clients,
      '--advertise-client-urls',
      clients,
      '--listen-peer-urls',
      peers,
      '--initial-advertise-peer-urls',
      peers,
      '--initial-cluster',
      `default=${peers}`,
    ];
    const known = spawnSync('etcd', ['--help']).stdout.toString();
    const usable = args.filter((arg) => arg !== '--unsafe-no-fsync' || known.includes(arg));
    const etcd = new RealEtcd(
      spawn('etcd', [...usable, ...at], { stdio: 'ignore' }),
      folder,
      clients,
    );
    for (let tries = 0; tries < 200; tries += 1) {
      const isUp = await etcd.range('none').then(
        () => true,
        () => false,
      );
      if (isUp) return etcd;
      await wait(50);
    }
    throw new Error('etcd does not answer');
  }

  async stop(): Promise<void> {
    this.process.kill();
    await once(this.process, 'exit');
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Returns the granted ttl, or null if the lease exists already. */
  async grantLease(lease: number, ttlS: number): Promise<number | null> {
    const { code, TTL } = await this.ask('lease/grant', { ID: lease, TTL: ttlS });
    return code === undefined ? TTL : null;
  }

  /** Returns the ttl, or 0 if there is no such lease. */
  async keepAlive(lease: number): Promise<number> {
    const { result } = await this.ask('lease/keepalive', { ID: lease });
    return result?.TTL ?? 0;
  }

  async revoke(lease: number): Promise<void> {
    await this.ask('lease/revoke', { ID: lease });
  }

  /**
   * Runs the mutex transaction. Returns the revisions of the client's own key and of the oldest
   * key, or null if there is no such lease.
   */
  async take(lock: string, lease: number): Promise<{ created: number; first: number } | null> {
    const key = keyOf(lock, lease);
    const first = {
      request_range: { ...allOf(lock), sort_order: 'ASCEND', sort_target: 'CREATE', limit: 1 },
    };
    const {
      code,
      succeeded,
      responses,
      header: at,
    } = await this.ask('kv/txn', {
      compare: [{ key, target: 'CREATE', create_revision: 0 }],
      success: [{ request_put: { key, value: '', lease } }, first],
      failure: [{ request_range: { key } }, first],
    });
    if (code !== undefined) return null;
    const [created, oldest] = responses.map((one) => one.response_range?.kvs[0]?.create_revision);
    return { created: (succeeded ? at?.revision : created) ?? 0, first: oldest ?? 0 };
  }

  /** Returns the revision of a key, or null if it does not exist. */
  async get(lock: string, lease: number): Promise<number | null> {
    const { kvs } = await this.ask('kv/range', { key: keyOf(lock, lease) });
    return kvs[0]?.create_revision ?? null;
  }

  /** Returns whether a key of the lock is older than this revision. */
  async hasOlder(lock: string, revision: number): Promise<boolean> {
    const { kvs } = await this.range(lock, { max_create_revision: revision - 1 });
    return kvs.length > 0;
  }

  async delete(lock: string, lease: number): Promise<number> {
    const { deleted } = await this.ask('kv/deleterange', { key: keyOf(lock, lease) });
    return deleted;
  }

  private range(lock: string, more: object = {}): Promise<Reply> {
    return this.ask('kv/range', { ...allOf(lock), ...more });
  }

  private async ask(what: string, body: object): Promise<Reply> {
    const answer = await fetch(`${this.url}/v3/${what}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    const read = reply.parse(await answer.json());
    this.revision = (read.header ?? read.result?.header)?.revision ?? this.revision;
    return read;
  }
}

async function freeUrl(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}`;
}
