import { expect, test } from 'vitest';
import { OnceNoter, progressLine, QueueReach } from './progress.ts';
import type { SweepProgress } from './sweep-queue.ts';

test('a queue that is away is told once until it answers again, and nothing else of it', () => {
  const told: string[] = [];
  const reach = new QueueReach((line) => told.push(line));
  reach.answers();
  reach.away(new Error('connect ECONNREFUSED'));
  reach.away(new Error('read ECONNRESET'));
  reach.answers();
  reach.answers();
  reach.away(new Error('connect ETIMEDOUT'));
  expect(told).toEqual([
    'the queue does not answer: connect ECONNREFUSED; waiting for it',
    'the queue answers again',
    'the queue does not answer: connect ETIMEDOUT; waiting for it',
  ]);
});

test('a line is said once, however often it is told', () => {
  const told: string[] = [];
  const noter = new OnceNoter((line) => told.push(line));
  for (const line of ['a', 'b', 'a']) noter.tell(line);
  expect(told).toEqual(['a', 'b']);
});

const progress: SweepProgress = {
  ...{ coordinator: 'one', epoch: 1, beat: 1, done: 3, chunks: 12 },
  ...{ runs: 10_000, total: 40_000, broken: 0, runsPerSecond: 500, kinds: {} },
};

test('the line says how much is done, how fast, by how many, and how long it will take', () => {
  expect(progressLine({ ...progress, workers: 3 })).toBe(
    '10,000 of 40,000 runs, 500/s, 3 workers, 60 s left, none broke a claim',
  );
  expect(progressLine({ ...progress, total: 18_010_000 })).toContain('10.0 h left');
});

test('before the first result nothing is said of the time left, or that none broke a claim', () => {
  const begun = { ...progress, runs: 0, runsPerSecond: 0 };
  expect(progressLine(begun)).toBe('0 of 40,000 runs');
});

test('a sweep on which nobody is at work says how to start a worker, and no pace', () => {
  const waiting = { ...progress, workers: 0, isWaiting: true };
  const word = 'waiting for a worker: npx --no-install fencepost worker';
  expect(progressLine({ ...waiting, runs: 0 })).toBe(`0 of 40,000 runs, ${word}`);
  expect(progressLine(waiting)).toBe(`10,000 of 40,000 runs, ${word}, none broke a claim`);
  const broken = { broken: 3, kinds: { 'unfenced fence-monotone': 3 } };
  expect(progressLine({ ...waiting, ...broken })).toMatch(/worker, 3 broke a claim: unfenced/);
});

test('failures are told by kind, the most frequent first', () => {
  const kinds = { 'unfenced linearizable': 1_000, 'unfenced fence-monotone': 2_000 };
  expect(progressLine({ ...progress, broken: 2_500, kinds })).toContain(
    '2,500 broke a claim: unfenced fence-monotone 2,000, unfenced linearizable 1,000',
  );
});
