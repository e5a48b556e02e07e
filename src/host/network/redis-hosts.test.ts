/**
 * Compares the bytes on a socket to a simulated node with those of a real `redis-server`: versions
 * of the protocol, transactions, subscriptions and their ends.
 */
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { needs } from '../../../tools/needs.ts';
import { hasRealRedis, RealServer } from '../redis/real-redis.fixture.ts';
import { inSection } from './in-section.fixture.ts';

/** Lines that one of two connections writes at once; `hangs up` destroys its socket. */
type Step = readonly [on: 0 | 1, ...lines: readonly string[]];

const CLIENT_ID = /(\$2\r\nid\r\n:)\d+/g;

const HANGS_UP = 'hangs up';

/** Waits until all expected bytes have arrived. */
type Settle = (heard: readonly string[], step: number) => Promise<void>;

/** Returns all bytes that two connections received, step by step. */
async function talk(
  steps: readonly Step[],
  open: () => net.Socket,
  settle: Settle,
): Promise<readonly (readonly string[])[]> {
  const sockets = [open(), open()];
  const heard = ['', ''];
  for (const [at, socket] of sockets.entries()) {
    await once(socket, 'connect');
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      heard[at] += bytes.toString('latin1');
    });
  }
  const all: string[][] = [];
  for (const [at, [on, ...lines]] of steps.entries()) {
    if (lines[0] === HANGS_UP) sockets[on]?.destroy();
    else sockets[on]?.write(lines.map((line) => `${line}\r\n`).join(''));
    await settle(heard, at);
    all.push(heard.map((text) => text.replace(CLIENT_ID, '$1N')));
  }
  for (const socket of sockets) socket.destroy();
  return all;
}

async function simulated(steps: readonly Step[]): Promise<readonly (readonly string[])[]> {
  const replies: (readonly (readonly string[])[])[] = [];
  const trace = await inSection(async () => {
    const open = (): net.Socket => net.connect(6379, 'redis-1');
    replies.push(await talk(steps, open, () => wait(50)));
  });
  expect(trace.ending).toEqual({ kind: 'complete' });
  return replies[0] ?? [];
}

/** Talks to a real server, and waits until it has sent as much as the simulated one. */
async function real(
  steps: readonly Step[],
  expected: readonly (readonly string[])[],
): Promise<readonly (readonly string[])[]> {
  const server = await RealServer.start();
  try {
    (await server.connect()).close();
    const open = (): net.Socket => net.connect(server.port, '127.0.0.1');
    return await talk(steps, open, async (heard, at) => {
      const isBehind = (): boolean =>
        heard.some((one, on) => one.length < (expected[at]?.[on]?.length ?? 0));
      for (let tries = 0; tries < 100 && isBehind(); tries += 1) await wait(20);
      await wait(100);
    });
  } finally {
    await server.stop();
  }
}

const TALKS: Readonly<Record<string, readonly Step[]>> = {
  'a subscriber that hangs up': [
    [0, 'SUBSCRIBE ch', 'PSUBSCRIBE c*'],
    [0, HANGS_UP],
    [1, 'PUBLISH ch x', 'PUBSUB NUMSUB ch', 'PUBSUB NUMPAT'],
  ],
  'one that hangs up before it is answered': [
    [0, 'SUBSCRIBE ch'],
    [0, 'UNSUBSCRIBE', 'SUBSCRIBE d'],
    [0, HANGS_UP],
    [1, 'PUBLISH d x', 'PUBSUB CHANNELS'],
  ],
  'a subscriber that quits': [
    [0, 'SUBSCRIBE ch'],
    [0, 'QUIT'],
    [1, 'PUBLISH ch x'],
  ],
  'subscriptions that end and begin': [
    [0, 'SUBSCRIBE a', 'UNSUBSCRIBE a', 'SUBSCRIBE b'],
    [1, 'PUBLISH a 1', 'PUBLISH b 2'],
    [0, 'UNSUBSCRIBE', 'GET none'],
    [1, 'PUBLISH b 3'],
    [0, 'PSUBSCRIBE *', 'PING'],
    [1, 'PUBLISH b 4', 'PUBLISH b 5'],
    [0, 'RESET', 'GET none'],
    [1, 'PUBLISH b 6'],
  ],
  'a HELLO without a version': [
    [0, 'HELLO 3', 'GET none'],
    [0, 'HELLO', 'GET none'],
    [0, 'HELLO 2', 'GET none', 'HELLO 4', 'HELLO'],
  ],
  'versions among other commands': [
    [0, 'GET none', 'HELLO 3', 'GET none', 'HELLO 2', 'GET none', 'HSET h a 1', 'HGETALL h'],
    [0, 'HELLO 3', 'SUBSCRIBE a', 'HGETALL h'],
    [1, 'PUBLISH a x'],
    [0, 'HELLO 2', 'PING'],
  ],
  'words of a handshake from a subscriber': [
    [0, 'SUBSCRIBE a', 'HELLO 3', 'CLIENT SETNAME me', 'AUTH x', 'RESET', 'HELLO 3', 'GET none'],
    [1, 'HELLO 3', 'SUBSCRIBE a', 'CLIENT SETNAME me', 'HELLO 2', 'HELLO', 'GET none'],
  ],
  'RESET, which goes back to version 2': [
    [0, 'HELLO 3', 'CLIENT SETNAME me', 'RESET', 'GET none'],
    [0, 'CLIENT GETNAME', 'HELLO'],
  ],
  'words of a handshake in a transaction': [
    [0, 'MULTI', 'CLIENT SETNAME me', 'GET none', 'EXEC'],
    [0, 'MULTI', 'GET none', 'HELLO 3', 'GET none', 'EXEC', 'GET none'],
    [0, 'MULTI', 'AUTH default x', 'DISCARD', 'CLIENT ID x', 'GET none'],
  ],
  'a subscription in a transaction': [
    [0, 'MULTI', 'SUBSCRIBE a', 'EXEC'],
    [1, 'PUBLISH a x'],
    [0, 'MULTI', 'EXEC'],
  ],
};

describe('a simulated node sends the bytes that a real one sends', () => {
  needs('redis-server', hasRealRedis()).each(Object.entries(TALKS))('%s', async (_, steps) => {
    const expected = await simulated(steps);
    expect(expected).toEqual(await real(steps, expected));
  });
});

test.each(['none', 'UNSUBSCRIBE', 'QUIT', 'RESET', HANGS_UP])(
  'a section that subscribed, then %s, leaves nothing pending',
  async (then) => {
    const trace = await inSection(async () => {
      const socket = net.connect(6379, 'redis-1');
      await once(socket, 'connect');
      socket.resume();
      socket.write('SUBSCRIBE ch\r\n');
      await wait(20);
      if (then === HANGS_UP) socket.destroy();
      else if (then !== 'none') socket.write(`${then}\r\n`);
      await wait(20);
    });
    expect(trace.ending).toEqual({ kind: 'complete' });
    expect(trace.sections).toMatchObject([{ end: { kind: 'returned', isUnguarded: true } }]);
  },
);
