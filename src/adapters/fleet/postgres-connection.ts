/**
 * Queues on PostgreSQL, which is experimental: all of a process share one small pool, and a worker
 * has one connection more by which it is counted. What differs from Redis, beside the pool's:
 *
 * 1. Workers are counted by locks of their sessions: see `postgres-presence.ts`.
 * 2. A lock is lost only when another worker has taken the job, not when its time is over; and that
 *    is by the clock of the worker that looks, not by the server's: clocks have to agree.
 */
import {
  type BackendFactory,
  PostgresConnection,
  type PostgresConnectionOptions,
  PostgresQueueBackend,
  Queue,
  Worker,
} from 'bullmq';
import pg from 'pg';
import {
  type Connection,
  type ConnectionOptions,
  FIRST_CONNECTION_MS,
  type OpenedQueue,
  type OpenedWorker,
} from './connection.ts';
import { steady } from './postgres-pool.ts';
import { Presence } from './postgres-presence.ts';
import type { PostgresAddress } from './queue-url.ts';

const SCHEMA = 'fencepost';
/** A worker asks for little at once; a coordinator reads and removes many jobs. */
const WORKER_POOL = 2;
const COORDINATOR_POOL = 4;
/** How long a query may wait for a connection. */
const CONNECT_MS = 60_000;

/** Connects, and creates the schema where it is not there; several processes may do so at once. */
export async function openPostgres(
  address: PostgresAddress,
  options: ConnectionOptions,
): Promise<Connection> {
  const { onError, isPatient } = options;
  const settings = settingsOf(address);
  await requirePostgres(settings);
  const connection = new PostgresConnection({
    ...settings,
    ...{ schema: SCHEMA, migrate: true, max: isPatient ? WORKER_POOL : COORDINATOR_POOL },
    ...{ connectionTimeoutMillis: CONNECT_MS, idleTimeoutMillis: 0, keepAlive: true },
  });
  connection.on('error', onError);
  steady(connection, options);
  try {
    await connection.waitUntilReady();
  } catch (error) {
    await connection.close();
    throw error;
  }
  return queuesOn(connection, onError);
}

function queuesOn(connection: PostgresConnection, onError: (error: Error) => void): Connection {
  type Factory = BackendFactory<PostgresQueueBackend, PostgresConnectionOptions>;
  const shared: Factory = (name, options) =>
    new PostgresQueueBackend(connection, name, options, false);
  const presence = new Presence(connection);
  return {
    queue(name): OpenedQueue {
      const queue = new Queue(name, { connection: {}, skipMetasUpdate: true }, shared);
      queue.getWorkersCount = () => presence.count(name);
      queue.on('error', onError);
      return queue;
    },
    worker(name, settings): OpenedWorker {
      const worker = new Worker(name, null, { ...settings, connection: {} }, shared);
      worker.on('error', onError);
      worker.on('closing', () => presence.leave(name));
      presence.enter(name);
      return worker;
    },
    async close() {
      await presence.end();
      await connection.close();
    },
  };
}

function settingsOf({ host, port, username, password, database, tls }: PostgresAddress): {
  readonly host: string;
  readonly port: number;
  readonly user?: string;
  readonly password?: string;
  readonly database?: string;
  readonly ssl: boolean | { readonly rejectUnauthorized: boolean };
  readonly application_name: string;
} {
  return {
    ...{ host, port, application_name: SCHEMA },
    ...(username === undefined ? {} : { user: username }),
    ...(password === undefined ? {} : { password }),
    ...(database === undefined ? {} : { database }),
    ssl: tls === 'unchecked' ? { rejectUnauthorized: false } : tls === 'checked',
  };
}

async function requirePostgres(settings: ReturnType<typeof settingsOf>): Promise<void> {
  const client = new pg.Client({ ...settings, connectionTimeoutMillis: FIRST_CONNECTION_MS });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.end();
  } catch (error) {
    // Of a host with several addresses, of which none answers, the error has no message.
    const [first] = error instanceof AggregateError ? error.errors : [];
    throw first instanceof Error ? first : error;
  }
}
