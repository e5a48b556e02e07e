/** What a coordinator tells while it counts: results that differ, and kinds of failure. */
import { expect, test } from 'vitest';
import { id, type Kept, requireWhole, run, sweep, timing, work } from './coordinate.fixture.ts';
import { MemoryQueue } from './memory-queue.fixture.ts';
import { shrinkJobIdOf } from './shrinking.ts';
import { resultOf } from './sweep.fixture.ts';
import type { ShrunkKind } from './sweep-queue.ts';

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
  expect(different.alarm).toMatchObject({ chunk: 2, from: 24, to: 30 });
  expect(different.alarm?.systems.map(({ system }) => system)).toEqual(['fenced']);
});

test('a late result with a seed that was killed raises no alarm, whichever came first', async () => {
  const well = resultOf(sweep, 2);
  const { unfenced, fenced } = well.tallies;
  if (unfenced === undefined || fenced === undefined) throw new Error('the fixture has both');
  const killed = { ...unfenced, failed: 1, killed: 1, failures: [{ seed: 24, error: 'hung' }] };
  const ill = { ...well, tallies: { unfenced: killed, fenced } };
  for (const roundOfLate of [2, 20]) {
    const queue = new MemoryQueue();
    const result = await run(queue, {}, (round) => {
      if (round === roundOfLate) queue.lates.set(`${id}-2-x`, ill);
      if (round > 10) queue.work(work, 1);
    });
    requireWhole(result);
    expect(result.alarm).toBeNull();
    expect(result.tallies.get('unfenced')?.killed).toBe(roundOfLate === 2 ? 1 : 0);
  }
});

test('a coordinator that goes on has the alarm, and what was shrunk, of the one before', async () => {
  const queue = new MemoryQueue();
  const kept: Kept = { text: null };
  const late = resultOf(sweep, 0);
  const { unfenced, fenced } = late.tallies;
  if (unfenced === undefined || fenced === undefined) throw new Error('the fixture has both');
  let isLeft = false;
  const told: ShrunkKind[] = [];
  const onShrunk = (kind: ShrunkKind): void => {
    told.push(kind);
  };
  const first = await run(queue, { kept, onShrunk, shouldStop: () => isLeft }, (round) => {
    const tallies = { unfenced, fenced: { ...fenced, events: 1 } };
    if (round === 2) queue.lates.set(`${id}-0-x`, { ...late, tallies });
    if (round === 20) queue.work(work, 5);
    if (round === 40) queue.work((job) => work(job), 20);
    if (round > 60) isLeft = true;
  });
  expect(told).toHaveLength(1);
  expect(first.shrunk).toEqual(told);
  expect(first.alarm).not.toBeNull();
  const second = await run(queue, { kept, onShrunk, coordinator: 'second' }, () =>
    queue.work(work),
  );
  expect([second.alarm, second.shrunk]).toEqual([first.alarm, first.shrunk]);
  expect(told).toHaveLength(1);
});

test('a kind that a worker cannot shrink holds nothing up, and is not asked for again', async () => {
  const queue = new MemoryQueue();
  const notes: string[] = [];
  const note = (line: string): void => {
    notes.push(line);
  };
  let asked = 0;
  const step = (round: number): void => {
    for (const [jobId, job] of queue.waiting) {
      if (job.kind !== 'shrink') continue;
      asked += 1;
      queue.waiting.delete(jobId);
      queue.gaveUp.set(jobId, 'job stalled more than allowable limit');
    }
    if (round % 10 === 0) queue.work((job) => (job.kind === 'chunk' ? work(job) : null), 1);
  };
  const often = { timing: { ...timing, addAgainMs: 1 } };
  const result = await run(queue, { ...often, note }, step);
  requireWhole(result);
  expect([asked, result.shrunk]).toEqual([1, []]);
  expect(notes).toContain('a job that shrinks was given up: job stalled more than allowable limit');
});

test('a kind whose job no worker ever finishes does not keep the sweep from its end', async () => {
  const queue = new MemoryQueue();
  const result = await run(queue, {}, () => {
    for (const [jobId, job] of queue.waiting) {
      if (job.kind === 'chunk') {
        queue.waiting.delete(jobId);
        queue.completed.set(jobId, work(job));
      }
    }
  });
  requireWhole(result);
  expect([...queue.waiting.values()]).toEqual([]);
});

test('each kind of failure is shrunk once, and its counterexample is told once', async () => {
  const queue = new MemoryQueue();
  const told: ShrunkKind[] = [];
  const orders: unknown[] = [];
  const answers = new Map<string, unknown>();
  await run(queue, { onShrunk: (kind) => told.push(kind), window: 4 }, () => {
    // Again and again, as after a save that could not take it off.
    for (const [jobId, answer] of answers) queue.completed.set(jobId, answer);
    queue.work((job) => {
      if (job.kind === 'shrink') {
        orders.push(job);
        answers.set(shrinkJobIdOf(id, job), work(job));
      }
      return work(job);
    }, 2);
  });
  expect(orders).toEqual([
    expect.objectContaining({ system: 'unfenced', claim: 'fence-monotone', kind: 'shrink' }),
  ]);
  expect(told).toEqual([...answers.values()]);
});
