import { expect, test } from 'vitest';
import { readCheckpoint } from './checkpoint.ts';
import { chunksIn } from './chunk-map.ts';
import { type CoordinateOptions, coordinate, type FleetResult } from './coordinate.ts';
import type { ChunkJob, ShrinkJob, ShrunkKind } from './jobs.ts';
import { MemoryQueue } from './memory-queue.ts';
import { resultOf, smallScenario, smallSweep } from './sweep.fixture.ts';
import { sweepIdOf } from './sweep-record.ts';

const sweep = smallSweep();
const id = sweepIdOf(sweep);
const chunks = chunksIn(sweep);
const timing = { pollMs: 1, beatMs: 5, saveMs: 0, addAgainMs: 1e9 };

function work(job: ChunkJob | ShrinkJob): unknown {
  if (job.kind === 'chunk') return resultOf(sweep, job.chunk);
  const { system, claim, seed } = job;
  return { system, claim, seed, plan: 'a plan', headline: 'it broke', signature: 'abcd' };
}

interface Kept {
  text: string | null;
}

function options(
  queue: MemoryQueue,
  kept: Kept,
  change: Partial<CoordinateOptions> = {},
): CoordinateOptions {
  const read = kept.text === null ? null : readCheckpoint(kept.text, id);
  return {
    ...{ sweep, scenario: smallScenario(), queue, timing },
    checkpoint: read?.kind === 'checkpoint' ? read.checkpoint : null,
    save: (text) => {
      kept.text = text;
    },
    planFileOf: (system, claim) => `reports/small-${system}-${claim}.yaml`,
    onShrunk: () => {},
    note: () => {},
    coordinator: 'first',
    shouldStop: () => false,
    ...change,
  };
}

/** Coordinates while `step` is called now and then, until it ends. */
async function run(
  queue: MemoryQueue,
  change: Partial<CoordinateOptions> & { readonly kept?: Kept },
  step: (round: number) => void,
): Promise<FleetResult> {
  const { kept = { text: null }, ...rest } = change;
  let isOver = false;
  let round = 0;
  const turn = (): void => {
    if (isOver) return;
    round += 1;
    if (round > 5_000) throw new Error('it does not end');
    step(round);
    setTimeout(turn, 1);
  };
  setTimeout(turn, 1);
  try {
    return await coordinate(options(queue, kept, rest));
  } finally {
    isOver = true;
  }
}

function requireWhole({ end, tallies }: FleetResult): void {
  expect(end).toBe('whole');
  expect(tallies.get('unfenced')).toMatchObject({ seeds: 100, broken: 33 });
  expect(tallies.get('fenced')?.seeds).toBe(100);
}

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

test('a late result that is equal changes nothing, and one that differs is the alarm', async () => {
  const queue = new MemoryQueue();
  const late = resultOf(sweep, 2);
  const equal = await run(queue, {}, (round) => {
    if (round === 2) queue.lates.set(`${id}-2-x`, late);
    if (round > 20) queue.work(work);
  });
  requireWhole(equal);
  expect(equal.alarm).toBeNull();
  const { unfenced, fenced } = late.tallies;
  if (unfenced === undefined || fenced === undefined) throw new Error('the fixture has both');
  const tallies = { unfenced, fenced: { ...fenced, events: 1 } };
  const other = new MemoryQueue();
  const different = await run(other, {}, (round) => {
    if (round === 2) other.work(work, 4);
    if (round === 20) other.lates.set(`${id}-2-x`, { ...late, tallies });
    if (round > 40) other.work(work);
  });
  requireWhole(different);
  expect(different.alarm).toContain('chunk 2, seeds 24..30');
});

test('each kind of failure is shrunk once, and its counterexample is told once', async () => {
  const queue = new MemoryQueue();
  const told: ShrunkKind[] = [];
  const orders: unknown[] = [];
  await run(queue, { onShrunk: (kind) => told.push(kind), window: 4 }, () =>
    queue.work((job) => {
      if (job.kind === 'shrink') orders.push(job);
      return work(job);
    }, 2),
  );
  expect(orders).toEqual([
    expect.objectContaining({ system: 'unfenced', claim: 'fence-monotone', kind: 'shrink' }),
  ]);
  expect(told.length).toBeLessThanOrEqual(1);
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
