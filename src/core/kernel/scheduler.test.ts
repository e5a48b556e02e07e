import { describe, expect, test } from 'vitest';
import { Defect } from './assert.ts';
import { Chance, draws } from './chance.ts';
import { nameOf } from './name.ts';
import type { Due } from './queue.ts';
import { Scheduler } from './scheduler.ts';

const FREE = { endUs: 1000, maxEvents: 1000 };

function eventOf(text: string, timeUs: number, fire: () => void, more: Partial<Due> = {}): Due {
  return { name: nameOf(text), timeUs, tie: 0, seq: 0, isCancelled: false, fire, ...more };
}

describe('the scheduler', () => {
  test('runs each event at its own time, with the events that it schedules', () => {
    const scheduler = new Scheduler();
    const seen: number[] = [];
    const again = (): void => {
      seen.push(scheduler.nowUs);
      if (scheduler.nowUs < 30) scheduler.schedule(eventOf('next', scheduler.nowUs + 10, again));
    };
    scheduler.schedule(eventOf('first', 10, again));
    expect(scheduler.run(FREE)).toBe('complete');
    expect(seen).toEqual([10, 20, 30]);
  });

  test('refuses an event in the past', () => {
    const scheduler = new Scheduler();
    const late = (): void => scheduler.schedule(eventOf('late', 9, () => {}));
    scheduler.schedule(eventOf('now', 10, late));
    expect(() => scheduler.run(FREE)).toThrow(Defect);
  });

  test('runs events that are due at its end, and none after it', () => {
    const scheduler = new Scheduler();
    const seen: number[] = [];
    for (const at of [10, 11]) scheduler.schedule(eventOf('e', at, () => seen.push(at)));
    expect(scheduler.run({ endUs: 10, maxEvents: 9 })).toBe('end');
    expect(seen).toEqual([10]);
  });

  test('stops at the first event beyond the maximum', () => {
    const runs = [2, 3].map((maxEvents) => {
      const scheduler = new Scheduler();
      for (const at of [1, 2, 3]) scheduler.schedule(eventOf('e', at, () => {}));
      return scheduler.run({ endUs: 10, maxEvents });
    });
    expect(runs).toEqual(['maxEvents', 'complete']);
  });

  test('skips cancelled events, which count toward no limit', () => {
    const scheduler = new Scheduler();
    const fire = (): void => expect.unreachable();
    const seen: string[] = [];
    for (const at of [5, 2000]) {
      scheduler.schedule(eventOf('cancelled', at, fire, { isCancelled: true }));
    }
    scheduler.schedule(eventOf('real', 6, () => {}));
    const watcher = ({ name }: Due): void => void seen.push(name.text);
    expect(scheduler.run({ endUs: 1000, maxEvents: 1 }, watcher)).toBe('complete');
    expect(seen).toEqual(['real']);
  });

  test('halts after an event that requests it, and can then continue', () => {
    const scheduler = new Scheduler();
    scheduler.halt();
    scheduler.schedule(eventOf('one', 1, () => scheduler.halt()));
    scheduler.schedule(eventOf('two', 2, () => {}));
    const stops = [1, 2].map(() => [scheduler.run(FREE), scheduler.nowUs]);
    expect(stops).toEqual([
      ['halted', 1],
      ['complete', 2],
    ]);
  });

  test('simultaneous events happen in both orders across seeds', () => {
    const firsts = new Set<string>();
    for (let seed = 0; seed < 20; seed += 1) {
      const chance = new Chance(seed);
      const scheduler = new Scheduler();
      const order: string[] = [];
      for (const text of ['alice/1/acquire/1/request', 'bob/1/acquire/1/request']) {
        const tie = chance.bits(nameOf(text), draws.tie);
        scheduler.schedule(eventOf(text, 5, () => order.push(text), { tie }));
      }
      scheduler.run(FREE);
      firsts.add(order[0] ?? '');
    }
    expect(firsts.size).toBe(2);
  });
});
