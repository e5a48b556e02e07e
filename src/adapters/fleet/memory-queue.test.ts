import { expect, test } from 'vitest';
import { MemoryQueue } from './memory-queue.fixture.ts';
import { smallSweep } from './sweep.fixture.ts';
import type { AddedJob } from './sweep-queue.ts';

function jobsOf(sweep: string): readonly AddedJob[] {
  return [0, 1, 2].map((chunk): AddedJob => {
    const job = { kind: 'chunk', sweep, fencepost: '1.0.0', chunk, from: 0, to: 0 } as const;
    return { id: `${sweep}-${chunk}`, job };
  });
}

test('what a worker holds is counted, stays where it is taken off, and is not added again', async () => {
  const queue = new MemoryQueue();
  await queue.add(jobsOf('s1'));
  queue.hold(2);
  await queue.remove('s1', ['s1-0', 's1-2']);
  await queue.add(jobsOf('s1'));
  expect(await queue.counts('s1')).toMatchObject({ waiting: 1, active: 2 });
  queue.finish(() => 'done', 1);
  expect(await queue.ended('s1', { atMost: 9, known: new Set() })).toEqual([
    { id: 's1-0', returned: 'done' },
  ]);
});

test('what is done to one sweep touches no other', async () => {
  const queue = new MemoryQueue();
  await queue.announce('s1', smallSweep());
  await queue.add(jobsOf('s1'));
  await queue.add(jobsOf('s2'));
  queue.hold(1);
  queue.lates.set('s1-0-x', {});
  queue.lates.set('s2-0-x', {});
  await queue.clear('s2');
  expect(await queue.counts('s2')).toMatchObject({ waiting: 0 });
  expect(await queue.counts('s1')).toMatchObject({ waiting: 2, active: 1 });
  await queue.end('s1');
  expect(await queue.total()).toMatchObject({ waiting: 0, active: 0 });
  expect([...queue.lates.keys(), ...queue.records.keys()]).toEqual(['s2-0-x']);
});
