/**
 * A pool of connections to PostgreSQL that outlives the server's. It makes even what BullMQ does
 * otherwise there than on Redis:
 *
 * 1. A query is rejected when its connection breaks. One of a worker waits for the server and is
 *    sent again, as ioredis does: no result is lost because the server restarts.
 * 2. BullMQ creates its schema once. A server that came back without its data gets it again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type PgQueryResult, type PostgresConnection, runMigrations } from 'bullmq';
import type { ConnectionOptions } from './connection.ts';

const RETRY_MS = 500;

/** Changes how the connection's pool is asked. */
export function steady(connection: PostgresConnection, options: ConnectionOptions): void {
  const { pool } = connection;
  const ask = pool.query;
  // A connection that breaks while it is in use tells it once more than to the query that fails.
  pool.on('connect', (client) => client.on('error', () => {}));
  const askTwice = async (text: string, given?: readonly unknown[]): Promise<PgQueryResult> => {
    try {
      return await ask.call(pool, text, given);
    } catch (error) {
      if (!isWithoutSchema(error)) throw error;
      await createSchema(connection);
      return await ask.call(pool, text, given);
    }
  };
  pool.query = async (text: string, given?: readonly unknown[]): Promise<PgQueryResult> => {
    for (;;) {
      try {
        return await askTwice(text, given);
      } catch (error) {
        const isOver = connection.isClosing !== undefined || !options.isPatient;
        if (isOver || !(error instanceof Error) || !isAway(error)) throw error;
        options.onError(error);
        await sleep(RETRY_MS);
      }
    }
  };
}

async function createSchema({ pool, schema }: PostgresConnection): Promise<void> {
  const client = await pool.connect();
  try {
    await runMigrations(client, schema);
  } finally {
    client.release();
  }
}

/** No table, no function, no schema. */
const WITHOUT_SCHEMA: readonly unknown[] = ['42P01', '42883', '3F000'];

function isWithoutSchema(error: unknown): boolean {
  return error instanceof Error && 'code' in error && WITHOUT_SCHEMA.includes(error.code);
}

/** It ends, crashed, begins, lets nobody in, may not write, or is out of room or connections. */
const AWAY = /^(08|28|53|58|3D000|25006|57P0[123])/;

/** Whether the server is away; what it has to say of a query itself has a severity. */
function isAway(error: Error): boolean {
  return !('severity' in error) || ('code' in error && AWAY.test(String(error.code)));
}
