/** What is wrong on a queue, or here: results that are none, jobs that are none, what is thrown. */
import { expect, test } from 'vitest';
import type { Tally } from '../../search/sweep/tally.ts';
import { readCheckpoint } from './checkpoint.ts';
import {
  chunks,
  id,
  type Kept,
  requireWhole,
  run,
  sweep,
  timing,
  until,
  work,
} from './coordinate.fixture.ts';
import { MemoryQueue } from './memory-queue.fixture.ts';
import { shrinkJobIdOf } from './shrinking.ts';
import { resultOf } from './sweep.fixture.ts';
import type { ChunkJob, ShrinkJob } from './sweep-queue.ts';

const KIND = { system: 'unfenced', claim: 'fence-monotone' };
const FIRST_OF_KIND = shrinkJobIdOf(id, KIND);

function doneIn({ text }: Kept): number {
  const read = readCheckpoint(text ?? '', id);
  if (read.kind === 'problem') throw new Error(read.what);
  return read.checkpoint.counts.digests.filter((_, at) => at % 2 === 0).filter(Boolean).length;
}

/** What a worker returns for chunk 2, changed; for all else what it should. */
function workWith(change: (tally: Tally) => object): (job: ChunkJob | ShrinkJob) => unknown {
  return (job) => {
    const result = work(job);
    if (job.kind === 'shrink' || job.chunk !== 2) return result;
    const { unfenced, fenced } = resultOf(sweep, 2).tallies;
    if (unfenced === undefined) throw new Error('the fixture has this system');
    return { ...resultOf(sweep, 2), tallies: { unfenced: change(unfenced), fenced } };
  };
}

test('a result that cannot be one of its chunk is not counted: it is tried again, and then lost', async () => {
  for (const change of [
    (tally: Tally) => ({ ...tally, broken: 1e6 }),
    (tally: Tally) => ({ ...tally, events: Number.MAX_SAFE_INTEGER }),
    (tally: Tally) => ({ ...tally, failed: 1, failures: [{ seed: 24, error: 'x'.repeat(1e6) }] }),
    (tally: Tally) => ({ ...tally, claims: { constructor: tally.claims['fence-monotone'] } }),
  ]) {
    const queue = new MemoryQueue();
    const notes: string[] = [];
    const note = (line: string): void => {
      notes.push(line);
    };
    const result = await run(queue, { note }, () => queue.work(workWith(change)));
    expect(result.end).toBe('lost');
    expect([...result.lost.keys()]).toEqual([2]);
    expect(result.tallies.get('unfenced')?.seeds).toBe(100 - 7);
    const again = 'chunk 3 is tried again: its result is none of this chunk';
    expect(notes.filter((line) => line === again)).toHaveLength(2);
  }
});

test('what a caller throws ends the sweep at once, and what was counted is saved first', async () => {
  const queue = new MemoryQueue();
  const kept: Kept = { text: null };
  const notes: string[] = [];
  const note = (line: string): void => {
    notes.push(line);
  };
  const onShrunk = (): void => {
    throw new TypeError('the plan cannot be written');
  };
  const change = { kept, note, onShrunk, timing: { ...timing, saveMs: 1e9 } };
  const ended = run(queue, change, (round) => {
    if (round === 3) queue.work(work, 5);
    if (round > 20) queue.work((job) => work(job), 1e3);
  });
  await expect(ended).rejects.toThrow('the plan cannot be written');
  expect(notes).toEqual([]);
  expect(doneIn(kept)).toBeGreaterThanOrEqual(5);
  // Its answer is still to be told by whoever goes on.
  const told: string[] = [];
  requireWhole(
    await run(
      queue,
      {
        ...{ kept, coordinator: 'second' },
        onShrunk: ({ system, claim }) => told.push(`${system} ${claim}`),
      },
      () => queue.work(work),
    ),
  );
  expect(told).toEqual(['unfenced fence-monotone']);
});

test('only what the queue rejects is waited out, and told once', async () => {
  const queue = new MemoryQueue();
  const notes: string[] = [];
  const note = (line: string): void => {
    notes.push(line);
  };
  const ended = queue.ended.bind(queue);
  let away = 5;
  queue.ended = (sweepId, wanted) => {
    away -= 1;
    return away > 0 ? Promise.reject(new Error('ECONNREFUSED')) : ended(sweepId, wanted);
  };
  requireWhole(await run(queue, { note }, () => queue.work(work)));
  expect(notes).toEqual([
    'the queue does not answer: ECONNREFUSED; waiting for it',
    'the queue answers again',
  ]);
});

test('a coordinator leaves while the queue is away, and keeps what it counted', async () => {
  const queue = new MemoryQueue();
  const kept: Kept = { text: null };
  let isLeft = false;
  const change = { kept, shouldStop: () => isLeft, timing: { ...timing, saveMs: 1e9 } };
  const result = await run(queue, change, (round) => {
    if (round === 3) queue.work(work, 5);
    if (round === 20) queue.sweep = () => Promise.reject(new Error('ECONNREFUSED'));
    if (round === 30) isLeft = true;
  });
  expect(result.end).toBe('left');
  expect(doneIn(kept)).toBe(5);
});

test('a job of a chunk that the sweep does not have is taken off, and not tried again', async () => {
  const queue = new MemoryQueue();
  const notes: string[] = [];
  const note = (line: string): void => {
    notes.push(line);
  };
  const strange = [`${id}-${chunks}`, `${id}-12345678`];
  const [returned, failed] = strange;
  if (returned === undefined || failed === undefined) throw new Error('there are two');
  const added: string[] = [];
  const add = queue.add.bind(queue);
  queue.add = (jobs) => {
    added.push(...jobs.map((job) => job.id));
    return add(jobs);
  };
  let left: readonly boolean[] = [];
  const result = await run(queue, { note }, (round) => {
    if (round === 2) queue.completed.set(returned, resultOf(sweep, 2));
    if (round === 2) queue.gaveUp.set(failed, 'job stalled more than allowable limit');
    if (round === 20)
      left = strange.map((one) => queue.completed.has(one) || queue.gaveUp.has(one));
    if (round > 20) queue.work(work);
  });
  requireWhole(result);
  expect(left).toEqual([false, false]);
  expect(added.filter((one) => strange.includes(one))).toEqual([]);
  expect(notes).toEqual(['a result is ignored that is of no job of this sweep']);
});

test('what was shrunk counts only under its own id, and of a kind that the scenario lists', async () => {
  const answer = work({
    ...KIND,
    kind: 'shrink',
    sweep: id,
    fencepost: '',
    seed: 12,
    planFile: '',
  });
  if (typeof answer !== 'object') throw new Error('the fixture gives an answer');
  const other = { system: 'fenced', claim: 'fence-monotone' };
  for (const [jobId, change] of [
    [FIRST_OF_KIND, { claim: 'grant-order' }],
    [FIRST_OF_KIND, { system: 'fenced' }],
    [FIRST_OF_KIND, { seed: 9 }],
    [FIRST_OF_KIND, { headline: 'x'.repeat(1e6) }],
    [FIRST_OF_KIND, { signature: 'x'.repeat(1e3) }],
    [shrinkJobIdOf(id, other), {}],
    [shrinkJobIdOf(id, { ...KIND, claim: 'grant-order' }), { claim: 'grant-order' }],
    [`${id}-k000000000000`, {}],
  ] as const) {
    const queue = new MemoryQueue();
    const notes: string[] = [];
    const told: unknown[] = [];
    const often = { timing: { ...timing, addAgainMs: 1 } };
    let asked = 0;
    const add = queue.add.bind(queue);
    queue.add = (jobs) => {
      asked += jobs.filter((job) => job.id === FIRST_OF_KIND).length;
      return add(jobs);
    };
    const spoken = {
      note: (line: string) => notes.push(line),
      onShrunk: (kind: unknown) => told.push(kind),
    };
    const result = await run(queue, { ...often, ...spoken }, (round) => {
      if (round % 3 === 0) queue.completed.set(jobId, { ...answer, ...change });
      if (round > 30) queue.work((job) => (job.kind === 'chunk' ? work(job) : null), 1);
    });
    requireWhole(result);
    expect([result.shrunk, told]).toEqual([[], []]);
    if (jobId === FIRST_OF_KIND) expect(asked).toBe(0);
    const ignored = notes.filter((line) => line.includes('ignored'));
    expect(new Set(ignored).size).toBe(ignored.length);
    expect(ignored.length).toBeGreaterThan(0);
  }
});

test('what workers say of why they leave a sweep to others is told once', async () => {
  const queue = new MemoryQueue();
  const notes: string[] = [];
  const note = (line: string): void => {
    notes.push(line);
  };
  const lines = ['sweep s1 is of fencepost 1: left', 'sweep s1 uses modules: left'];
  await run(queue, { note }, (round) => {
    if (round === 2) queue.refused.set(id, lines.slice(0, 1));
    if (round === 30) queue.refused.set(id, lines);
    if (round > 60) queue.work(work);
  });
  expect(notes).toEqual(lines);
});

test('a sweep on which nobody is at work says that it waits', async () => {
  const told: boolean[] = [];
  const onProgress = ({ isWaiting }: { readonly isWaiting: boolean }): void => {
    told.push(isWaiting);
  };
  for (const [workers, quietMs, isHeld, waits] of [
    [0, 1e9, false, true],
    [1, 1e9, false, false],
    [1, 20, false, true],
    [1, 20, true, false],
  ] as const) {
    told.length = 0;
    const queue = new MemoryQueue();
    const counts = queue.counts.bind(queue);
    queue.counts = async (sweepId) => ({ ...(await counts(sweepId)), workers });
    let isLeft = false;
    const quiet = { shouldStop: () => isLeft, timing: { ...timing, quietMs } };
    const ended = run(queue, { onProgress, ...quiet }, () => {
      if (isHeld) queue.hold(1);
    });
    await new Promise((resolve) => setTimeout(resolve, 60));
    await until(() => told.length > 5);
    isLeft = true;
    await ended;
    expect(told.at(-1)).toBe(waits);
  }
});
