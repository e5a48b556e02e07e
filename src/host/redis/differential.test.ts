/** The simulated node against a real `redis-server`, command by command. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { needs } from '../../../tools/needs.ts';
import { command } from './commands.fixture.ts';
import { RedisNode } from './node.ts';
import { hasRealRedis, RealRedis } from './real-redis.fixture.ts';
import type { RedisCommand, RedisReply } from './reply.ts';

const COUNT = 10_000;
/** The two clocks are read one after the other, and the machine may be busy. */
const SLACK_MS = 5000;

const law = needs('redis-server', hasRealRedis());

/** The reply with a time that is nearly the expected one taken for it. */
function settled(command: RedisCommand, found: RedisReply, expected: RedisReply): RedisReply {
  const [name = ''] = command;
  if (typeof found !== 'number' || typeof expected !== 'number') return found;
  if (!/^p?ttl$/i.test(name) || found <= 0 || expected <= 0) return found;
  const slack = name.toLowerCase() === 'pttl' ? SLACK_MS : SLACK_MS / 1000;
  return Math.abs(found - expected) <= slack ? expected : found;
}

describe('a real redis-server', () => {
  let real: RealRedis;
  beforeEach(async () => {
    real = await RealRedis.start();
  });
  afterEach(() => real.stop());

  law.each([1, 2, 3])('answers every command as the simulated one does, seed %i', async (seed) => {
    const node = new RedisNode();
    const history: RedisCommand[] = [];
    for (const one of fc.sample(command, { seed, numRuns: COUNT })) {
      history.push(one);
      const expected = await real.send(one);
      const found = node.handle(one, { wallUs: Date.now() * 1000 });
      const last = JSON.stringify(history.slice(-5), null, 1);
      expect(settled(one, found, expected), last).toEqual(expected);
    }
  });
});
