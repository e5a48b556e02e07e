/**
 * The laws of sweeps on a queue, on a real Redis. Left out, in one line, where there is no
 * `redis-server`.
 */
import { expect } from 'vitest';
import { needs } from '../../../tools/needs.ts';
import { hasRealRedis } from '../../host/redis/real-redis.fixture.ts';
import { openBullQueue } from './bull-queue.ts';
import { lateQueueOf, openConnection, workQueueOf } from './connection.ts';
import { lawsOfSweeps } from './trial/laws.fixture.ts';
import { RedisServer } from './trial/redis.fixture.ts';

const isThere = hasRealRedis();

lawsOfSweeps({
  test: needs('redis-server', isThere),
  isThere,
  start: () => RedisServer.start(),
});

needs('redis-server', isThere)(
  'what on Redis is no JSON stops no round of a coordinator',
  async () => {
    const server = await RedisServer.start();
    const address = { host: '127.0.0.1', port: server.port };
    const connection = await openConnection(address, { isPatient: true, onError: () => {} });
    const lates = connection.queue(lateQueueOf('s1'));
    for (const jobId of ['s1-0-x', 's1-1-x']) await lates.add('late', { jobId }, { jobId });
    const work = connection.queue(workQueueOf('s1'));
    const worker = connection.worker(workQueueOf('s1'), {});
    await work.add('chunk', {}, { jobId: 's1-0' });
    await (await worker.getNextJob('one', { block: false }))?.moveToCompleted(1, 'one', false);
    await server.ask(async (redis) => {
      await redis.hset('fencepost:late-s1:s1-0-x', 'data', 'no JSON');
      await redis.hset('fencepost:work-s1:s1-0', 'data', 'no JSON');
    });
    const told: string[] = [];
    const queue = await openBullQueue(
      address,
      () => {},
      (line) => told.push(line),
    );
    const wanted = { atMost: 10, known: new Set<string>() };
    for (let round = 0; round < 2; round += 1) {
      expect(await queue.late('s1', wanted)).toEqual([
        { id: 's1-1-x', returned: { jobId: 's1-1-x' } },
      ]);
      expect(await queue.ended('s1', wanted)).toEqual([{ id: 's1-0', returned: null }]);
    }
    expect(told).toEqual(['a late result of s1 cannot be read, and is not compared: s1-0-x']);
    expect(await server.withText('s1-0-x')).toEqual([]);
    await queue.close();
    await worker.close(true);
    await connection.close();
    await server.end();
  },
);
