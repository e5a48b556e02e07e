import { setTimeout as wait } from 'node:timers/promises';
import { compileFunction } from 'node:vm';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import type { AsyncSection } from '../../systems/protocol.ts';
import { inSection } from './in-section.fixture.ts';

interface Limiter {
  /** Sends UNSUBSCRIBE without waiting for the answer. */
  disconnect(): undefined;
  /** Sends DEL and waits for the answer. */
  release(): Promise<void>;
  /** Sends PEXPIRE from a timer. */
  beat(): void;
}

/** A package around a driver. */
const packaged: (redis: Redis) => Limiter = Object(
  compileFunction(
    `return (redis) => ({
      disconnect() { redis.unsubscribe('all').catch(() => {}); },
      async release() { await redis.del('lock'); },
      beat() { setTimeout(() => redis.pexpire('lock', 9).catch(() => {}), 5); },
    })`,
    [],
    { filename: '/srv/node_modules/limiter/index.js' },
  )(),
);

type Body = (limiter: Limiter, redis: Redis) => Promise<unknown>;

/** Returns `returned`, or the error of the section without places. */
async function endOf(body: Body): Promise<string | undefined> {
  const code = async (section: AsyncSection): Promise<void> => {
    const redis = new Redis('redis://redis-1:6379');
    await redis.set('lock', 'me');
    section.guard().leave();
    await body(packaged(redis), redis);
  };
  const { sections = [] } = await inSection(code);
  const end = sections[0]?.end;
  return end?.kind === 'failed' ? end.error.text.replace(/ at \S+/, '') : end?.kind;
}

async function close(limiter: Limiter): Promise<undefined> {
  return limiter.disconnect();
}

test.each<[string, Body]>([
  ['while the section waits for the package', async (limiter) => await limiter.disconnect()],
  [
    'the same on a line of its own',
    async (limiter) => {
      await wait(1);
      await limiter.disconnect();
    },
  ],
  ['through a function of the user that returns it', async (limiter) => await close(limiter)],
  [
    'from a timer',
    async (limiter) => {
      limiter.beat();
      await wait(5);
    },
  ],
])('a call that a package makes and does not await is not reported: %s', async (_, body) => {
  expect(await endOf(body)).toBe('returned');
});

const DEL = 'Unfinished: the call del was still in progress when its section ended: await it';

test.each<[string, Body]>([
  ['the call of a driver', async (_, redis) => void redis.del('lock')],
  ['the call of a package', async (limiter) => void limiter.release()],
  [
    'the call of a package, as a statement',
    async (limiter) => {
      await wait(1);
      limiter.release();
    },
  ],
  [
    'a function of the user that waits',
    async (limiter) => {
      const later = async (): Promise<void> => {
        await limiter.release();
      };
      void later();
    },
  ],
])('a call that user code does not await is reported: %s', async (_, body) => {
  expect(await endOf(body)).toBe(DEL);
});
