import { expect, test } from 'vitest';
import { Reach, Teller } from './reach.ts';

test('a queue that is away is told once until it answers again, and nothing else of it', () => {
  const told: string[] = [];
  const reach = new Reach((line) => told.push(line));
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
  const teller = new Teller((line) => told.push(line));
  for (const line of ['a', 'b', 'a']) teller.tell(line);
  expect(told).toEqual(['a', 'b']);
});
