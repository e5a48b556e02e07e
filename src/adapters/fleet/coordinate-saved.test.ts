/** What a coordinator saves before it ends, and what the next one has of it. */
import { expect, test } from 'vitest';
import { type Checkpoint, readCheckpoint } from './checkpoint.ts';
import {
  chunks,
  id,
  type Kept,
  requireWhole,
  run,
  sweep,
  timing,
  work,
} from './coordinate.fixture.ts';
import { MemoryQueue } from './memory-queue.fixture.ts';
import { resultOf } from './sweep.fixture.ts';
import type { ShrunkKind } from './sweep-queue.ts';

/** Nothing is saved but at the end. */
const rarely = { timing: { ...timing, saveMs: 1e9 } };
/** Nor is anything told. */
const silently = { timing: { ...rarely.timing, beatMs: 1e9 } };

function saved({ text }: Kept): Checkpoint {
  const read = readCheckpoint(text ?? '', id);
  if (read.kind === 'problem') throw new Error(read.what);
  return read.checkpoint;
}

function seedsIn(kept: Kept): number | undefined {
  return saved(kept).counts.tallies['fenced']?.seeds;
}

test('what a sweep came to is saved before it goes from the queue', async () => {
  const queue = new MemoryQueue();
  const kept: Kept = { text: null };
  const end = queue.end.bind(queue);
  let seeds: number | undefined = 0;
  queue.end = async (sweepId) => {
    seeds = seedsIn(kept);
    await end(sweepId);
  };
  requireWhole(await run(queue, { kept, ...rarely }, () => queue.work(work)));
  expect(seeds).toBe(100);
});

test('what is known when a sweep is stopped, or left, is saved, told and taken off', async () => {
  for (const how of ['stopped', 'left'] as const) {
    const queue = new MemoryQueue();
    const kept: Kept = { text: null };
    let isLeft = false;
    const result = await run(queue, { kept, ...silently, shouldStop: () => isLeft }, (round) => {
      if (round === 5) queue.work(work, 3);
      if (round === 30 && how === 'left') isLeft = true;
      if (round === 30 && how === 'stopped') void queue.setState(id, 'stopped');
    });
    expect(result.end).toBe(how);
    expect(seedsIn(kept)).toBe(21);
    expect(queue.completed.size).toBe(0);
    const { done, runsPerSecond } = queue.records.get(id)?.progress ?? {};
    expect([done, runsPerSecond]).toEqual([3, 0]);
  }
});

test('the next coordinator has the alarm, and what was shrunk, though the queue forgot all', async () => {
  const kept: Kept = { text: null };
  const told: ShrunkKind[] = [];
  const onShrunk = (kind: ShrunkKind): void => {
    told.push(kind);
  };
  const queue = new MemoryQueue();
  let isLeft = false;
  const { unfenced, fenced } = resultOf(sweep, 0).tallies;
  if (unfenced === undefined || fenced === undefined) throw new Error('the fixture has both');
  const first = await run(
    queue,
    { kept, onShrunk, ...rarely, shouldStop: () => isLeft },
    (round) => {
      const tallies = { unfenced, fenced: { ...fenced, events: 1 } };
      if (round === 5) queue.work(work, 5);
      if (round === 20) queue.lates.set(`${id}-0-x`, { ...resultOf(sweep, 0), tallies });
      if (round === 20) shrinking(queue);
      if (round > 40) isLeft = true;
    },
  );
  expect(first.end).toBe('left');
  expect(first.alarm).toMatchObject({ chunk: 0, systems: [{ system: 'fenced' }] });
  expect(told).toEqual(first.shrunk);
  expect(told).toHaveLength(1);
  const forgetful = new MemoryQueue();
  const second = await run(forgetful, { kept, onShrunk, coordinator: 'second' }, () =>
    forgetful.work((job) => (job.kind === 'chunk' ? work(job) : null)),
  );
  requireWhole(second);
  expect([second.alarm, second.shrunk]).toEqual([first.alarm, first.shrunk]);
  expect(told).toHaveLength(1);
});

test('a job that failed though its chunk is counted is taken off, and not tried again', async () => {
  const queue = new MemoryQueue();
  const jobId = `${id}-3`;
  let isLeft = true;
  const result = await run(queue, {}, (round) => {
    if (round === 2) queue.lates.set(`${jobId}-x`, resultOf(sweep, 3));
    if (round === 20) {
      queue.waiting.delete(jobId);
      queue.gaveUp.set(jobId, 'job stalled more than allowable limit');
    }
    if (round === 40) isLeft = queue.gaveUp.has(jobId) || queue.waiting.has(jobId);
    if (round > 40) queue.work(work);
  });
  requireWhole(result);
  expect(isLeft).toBe(false);
  expect(queue.added).toBe(chunks + 1);
});

/** Ends the jobs that shrink, and no other. */
function shrinking(queue: MemoryQueue): void {
  for (const [jobId, job] of queue.waiting) {
    if (job.kind === 'shrink' && queue.waiting.delete(jobId)) queue.completed.set(jobId, work(job));
  }
}

/** Lets every job of a chunk fail. */
function failing(queue: MemoryQueue, chunk: number): void {
  const jobId = `${id}-${chunk}`;
  if (queue.waiting.delete(jobId)) queue.gaveUp.set(jobId, 'no worker survives it');
}

test('a late result of a chunk that was lost is counted, and the sweep is whole', async () => {
  const queue = new MemoryQueue();
  const result = await run(queue, {}, (round) => {
    failing(queue, 3);
    if (round === 40) queue.lates.set(`${id}-3-x`, resultOf(sweep, 3));
    if (round > 60) queue.work(work);
  });
  requireWhole(result);
  expect(result.lost.size).toBe(0);
});

test('a chunk that is lost makes room for another', async () => {
  const queue = new MemoryQueue();
  const result = await run(queue, { window: 1 }, () => {
    failing(queue, 3);
    queue.work(work);
  });
  expect(result.end).toBe('lost');
  expect([...result.lost.keys()]).toEqual([3]);
  expect(result.tallies.get('fenced')?.seeds).toBe(100 - 7);
});

test('a job that is gone while the counts are right is added again in time', async () => {
  const queue = new MemoryQueue();
  const counts = { waiting: 1e6, active: 0, delayed: 0, ended: 0, workers: 1 };
  queue.counts = () => Promise.resolve(counts);
  const result = await run(queue, { timing: { ...timing, addAgainMs: 20 } }, (round) => {
    if (round === 5) queue.waiting.delete(`${id}-3`);
    if (round > 10) queue.work(work);
  });
  requireWhole(result);
});
