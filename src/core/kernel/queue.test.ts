import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nameOf } from './name.ts';
import { type Due, EventQueue } from './queue.ts';

function dueAt(timeUs: number, tie: number, seq: number): Due {
  return { name: nameOf('event'), timeUs, tie, seq, isCancelled: false, fire: () => {} };
}

function inOrder(a: Due, b: Due): number {
  return a.timeUs - b.timeUs || a.tie - b.tie || a.seq - b.seq;
}

function drain(queue: EventQueue): Due[] {
  const popped: Due[] = [];
  for (let due = queue.pop(); due !== undefined; due = queue.pop()) popped.push(due);
  return popped;
}

describe('the queue', () => {
  test('pops events in the order of time, then tie, then scheduling', () => {
    const key = fc.tuple(fc.nat(5), fc.integer({ min: -2, max: 2 }));
    fc.assert(
      fc.property(fc.array(key, { maxLength: 200 }), (keys) => {
        const queue = new EventQueue();
        const dues = keys.map(([timeUs, tie], seq) => dueAt(timeUs, tie, seq));
        for (const due of dues) queue.push(due);
        expect(queue.size).toBe(dues.length);
        expect(drain(queue)).toEqual(dues.toSorted(inOrder));
      }),
    );
  });

  test('pops its first event in any mix of pushes and pops', () => {
    const step = fc.option(fc.nat(20), { nil: null, freq: 2 });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const queue = new EventQueue();
        let model: Due[] = [];
        for (const [seq, timeUs] of steps.entries()) {
          if (timeUs !== null) {
            const due = dueAt(timeUs, 0, seq);
            queue.push(due);
            model.push(due);
          } else {
            const first = model.toSorted(inOrder)[0];
            expect(queue.pop()).toBe(first);
            model = model.filter((due) => due !== first);
          }
        }
      }),
    );
  });

  test('an empty queue pops nothing', () => {
    expect(new EventQueue().pop()).toBeUndefined();
  });
});
