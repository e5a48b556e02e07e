/** Starts a separate Redis on loopback, for measurements on a queue. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../src/adapters/fleet/connection.ts';

export interface RedisPlace {
  readonly host: string;
  readonly port: number;
}

/** Calls `act` with a Redis that ends afterwards; returns null if there is no `redis-server`. */
export async function withRedis<Result>(
  act: (place: RedisPlace) => Promise<Result>,
): Promise<Result | null> {
  if (spawnSync('redis-server', ['--version']).status !== 0) return null;
  const folder = mkdtempSync(join(tmpdir(), 'fencepost-bench-'));
  const place = { host: '127.0.0.1', port: await freePort() };
  const flags = ['--port', `${place.port}`, '--bind', '127.0.0.1', '--dir', folder];
  const server = spawn('redis-server', [...flags, '--save', ''], { stdio: 'ignore' });
  try {
    await sleep(1_000);
    // Wait until it answers.
    (await connect(place, { isPatient: false })).disconnect();
    return await act(place);
  } finally {
    server.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('there is no free port');
  return address.port;
}
