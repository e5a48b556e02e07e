import { expect, test } from 'vitest';
import {
  chunks,
  id,
  type Kept,
  options,
  requireWhole,
  run,
  sweep,
  work,
} from './coordinate.fixture.ts';
import { coordinate, type FleetProgress, type FleetResult, Pace } from './coordinate.ts';
import { MemoryQueue } from './memory-queue.fixture.ts';
import { resultOf } from './sweep.fixture.ts';

test('every chunk is added and counted once, and nothing is left on the queue', async () => {
  const queue = new MemoryQueue();
  requireWhole(await run(queue, {}, () => queue.work(work, 2)));
  expect(queue.added).toBe(chunks + 1);
  expect([queue.records.size, queue.completed.size, queue.waiting.size]).toEqual([0, 0, 0]);
});

test('no more chunks are under way than the window has', async () => {
  const queue = new MemoryQueue();
  let most = 0;
  const result = await run(queue, { window: 3 }, () => {
    most = Math.max(most, queue.waiting.size);
    queue.work(work, 2);
  });
  requireWhole(result);
  expect(most).toBeLessThanOrEqual(3 + 1);
});

test('what a queue has lost is added again, however much of others is on it', async () => {
  const queue = new MemoryQueue();
  const others = { waiting: 1e6, active: 0, delayed: 0, ended: 0, workers: 1 };
  queue.counts = () => Promise.resolve(others);
  const result = await run(queue, {}, (round) => {
    if (round === 20 || round === 60) queue.lose();
    else if (round % 10 === 0) queue.work(work, 1);
    else if (round > 100) queue.work(work);
  });
  requireWhole(result);
});

test('what a queue has lost of its jobs alone is added again', async () => {
  const queue = new MemoryQueue();
  const result = await run(queue, {}, (round) => {
    if (round === 20) queue.waiting.clear();
    if (round === 40) queue.work(work);
    if (round > 60) queue.work(work);
  });
  requireWhole(result);
});

test('one that is left goes on from its checkpoint, without repeating what it has', async () => {
  const queue = new MemoryQueue();
  const kept: Kept = { text: null };
  let isLeft = false;
  const first = await run(queue, { kept, shouldStop: () => isLeft, window: 8 }, (round) => {
    if (round === 5) queue.work(work, 5);
    if (round > 10) isLeft = true;
  });
  expect(first.end).toBe('left');
  const examined: number[] = [];
  const second = await run(queue, { kept, coordinator: 'second' }, () =>
    queue.work((job) => {
      if (job.kind === 'chunk') examined.push(job.chunk);
      return work(job);
    }),
  );
  requireWhole(second);
  expect(new Set(examined).size).toBe(examined.length);
  expect(examined.length).toBe(chunks - 5);
});

test('one that was killed between saving and taking off counts nothing twice', async () => {
  const queue = new MemoryQueue();
  const kept: Kept = { text: null };
  let isKilled = false;
  await run(queue, { kept, shouldStop: () => isKilled }, (round) => {
    queue.remove = async () => {};
    if (round === 5) queue.work(work, 6);
    if (round === 20) isKilled = true;
  });
  expect(queue.completed.size).toBe(6);
  const again = new MemoryQueue();
  for (const [jobId, returned] of queue.completed) again.completed.set(jobId, returned);
  requireWhole(await run(again, { kept, coordinator: 'second' }, () => again.work(work)));
});

test('one that goes on counts its own pace, not that of the one before', async () => {
  const queue = new MemoryQueue();
  const kept: Kept = { text: null };
  let isLeft = false;
  await run(queue, { kept, shouldStop: () => isLeft }, (round) => {
    if (round === 5) queue.work(work, 10);
    if (round > 20) isLeft = true;
  });
  const told: FleetProgress[] = [];
  const onProgress = (progress: FleetProgress): void => {
    told.push(progress);
  };
  await run(queue, { kept, coordinator: 'second', onProgress }, (round) => {
    if (round > 40) queue.work(work);
  });
  const [first] = told;
  expect(first).toMatchObject({ runs: 140, total: 200, runsPerSecond: 0 });
  expect(told.some(({ workers }) => workers === 1)).toBe(true);
});

test('a chunk that fails is tried again, and one that always fails is told as lost', async () => {
  const queue = new MemoryQueue();
  let failures = 0;
  const fail = (times: number): void => {
    const jobId = `${id}-3`;
    if (!queue.waiting.has(jobId) || failures >= times) return;
    failures += 1;
    queue.waiting.delete(jobId);
    queue.gaveUp.set(jobId, 'job stalled more than allowable limit');
  };
  requireWhole(
    await run(queue, {}, () => {
      fail(2);
      queue.work(work, 1);
    }),
  );
  expect(failures).toBe(2);
  failures = 0;
  const lost = await run(queue, {}, () => {
    fail(Infinity);
    for (const [jobId, job] of queue.waiting) {
      if (jobId === `${id}-3`) continue;
      queue.waiting.delete(jobId);
      queue.completed.set(jobId, work(job));
    }
  });
  expect(lost.end).toBe('lost');
  expect([...lost.lost.keys()]).toEqual([3]);
  expect(lost.tallies.get('fenced')?.seeds).toBe(100 - 7);
});

test('a result that is none of its chunk is not counted, and the chunk is examined again', async () => {
  const queue = new MemoryQueue();
  let wrong = 0;
  const result = await run(queue, {}, () =>
    queue.work((job) => {
      if (job.kind === 'shrink' || job.chunk !== 4 || wrong > 0) return work(job);
      wrong += 1;
      return resultOf(sweep, 5);
    }, 1),
  );
  expect(wrong).toBe(1);
  requireWhole(result);
});

test('a second coordinator does not begin while the first is at work', async () => {
  const queue = new MemoryQueue();
  let second: Promise<FleetResult> | null = null;
  let isFree = false;
  const first = await run(queue, {}, (round) => {
    if (round === 10) {
      second = coordinate(options(queue, { text: null }, { coordinator: 'second' }));
      void second.then(() => {
        isFree = true;
      });
    }
    if (isFree) queue.work(work);
  });
  requireWhole(first);
  expect(await second).toMatchObject({ end: 'busy' });
});

test('a sweep that is stopped says so, and leaves nothing for workers', async () => {
  const queue = new MemoryQueue();
  const result = await run(queue, {}, (round) => {
    if (round === 5) queue.work(work, 3);
    if (round === 30) void queue.setState(id, 'stopped');
  });
  expect(result.end).toBe('stopped');
  expect(result.tallies.get('fenced')?.seeds).toBe(21);
  expect(queue.waiting.size).toBe(0);
  expect(queue.records.has(id)).toBe(true);
});

test('a checkpoint that cannot be kept ends the coordinator, and takes nothing off', async () => {
  const queue = new MemoryQueue();
  const save = (): void => {
    throw new Error('the disk is full');
  };
  const ended = run(queue, { save }, (round) => {
    if (round === 5) queue.work(work, 3);
  });
  await expect(ended).rejects.toThrow('the disk is full');
  expect(queue.completed.size).toBe(3);
});

test('the pace is that of the last minute, not since the start', () => {
  const pace = new Pace(1_000, 0);
  expect(pace.at(0, 1_000)).toBe(0);
  for (let s = 1; s <= 600; s += 1) pace.at(1_000 * s, 1_000 + s);
  expect(pace.at(600_000, 1_600)).toBeCloseTo(1, 1);
  for (let s = 1; s <= 61; s += 1) pace.at(600_000 + 1_000 * s, 1_600 + 100 * s);
  expect(pace.at(661_000, 7_700)).toBeGreaterThan(98);
});

test('where a chunk takes longer than a minute the last two that ended tell the pace', () => {
  const pace = new Pace(0, 0);
  expect(pace.at(100_000, 0)).toBe(0);
  expect(pace.at(300_000, 600)).toBe(2);
  expect(pace.at(600_000, 1_200)).toBe(2);
  expect(pace.at(660_000, 1_200)).toBeCloseTo(600 / 360);
  expect(pace.at(900_000, 2_400)).toBe(4);
  expect(pace.quietMs(950_000)).toBe(50_000);
});
