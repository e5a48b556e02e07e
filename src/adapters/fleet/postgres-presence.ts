/**
 * Which workers are there for a queue in PostgreSQL: each holds a shared advisory lock of the
 * queue's name for as long as its session lasts, so that one that dies is counted no more.
 */
import { createHash } from 'node:crypto';
import type { PostgresConnection } from 'bullmq';

const RETRY_MS = 1_000;

const ENTER = 'SELECT pg_try_advisory_lock_shared($1::bigint)';
const LEAVE = 'SELECT pg_advisory_unlock_shared($1::bigint)';
const COUNT = `
  SELECT count(DISTINCT pid)::int AS workers FROM pg_locks
  WHERE locktype = 'advisory' AND granted AND objsubid = 1
    AND (classid::bigint << 32) + objid::bigint = $1::bigint
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/** The presence of one process; it holds each name once, on the connection BullMQ listens on. */
export class Presence {
  private readonly connection: PostgresConnection;
  private readonly names: Set<string> = new Set();
  private isOver = false;
  /** One after another: a connection takes one question at a time. */
  private last: Promise<void> = Promise.resolve();

  constructor(connection: PostgresConnection) {
    this.connection = connection;
    connection.on('listenerinvalidated', () => {
      for (const name of this.names) void this.take(name);
    });
  }

  enter(name: string): void {
    this.names.add(name);
    void this.take(name);
  }

  leave(name: string): void {
    this.names.delete(name);
    void this.ask(LEAVE, name).catch(() => {});
  }

  /** How many processes are there for a name. */
  async count(name: string): Promise<number> {
    const { rows } = await this.connection.pool.query(COUNT, [keyOf(name)]);
    return Number(rows[0]?.['workers'] ?? 0);
  }

  /** Asks nothing more; the locks go with the connection. */
  async end(): Promise<void> {
    this.isOver = true;
    await this.last;
  }

  /** Again and again, until the server answers. */
  private async take(name: string): Promise<void> {
    try {
      if (this.names.has(name)) await this.ask(ENTER, name);
    } catch {
      setTimeout(() => void this.take(name), RETRY_MS).unref();
    }
  }

  private ask(text: string, name: string): Promise<void> {
    const asked = this.last.then(async () => {
      if (this.isOver) return;
      const client = await this.connection.getListenClient();
      await client.query(text, [keyOf(name)]);
    });
    this.last = asked.catch(() => {});
    return asked;
  }
}

/** A positive number of 62 bits, as text. */
function keyOf(name: string): string {
  const digest = createHash('sha256').update(`fencepost:${name}`).digest();
  return String(digest.readBigUInt64BE() >> 2n);
}
