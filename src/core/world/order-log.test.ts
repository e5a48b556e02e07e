import { describe, expect, test } from 'vitest';
import { nameOf } from '../kernel/name.ts';
import type { Due } from '../kernel/queue.ts';
import { FIRST } from './agenda.ts';
import { OrderLog } from './pinning.ts';

type Event = readonly [name: string, timeUs: number, tie: number, seq: number];

function namesOf(...events: readonly Event[]): readonly string[] {
  const log = new OrderLog();
  let previous: Due | null = null;
  for (const [text, timeUs, tie, seq] of events) {
    const name = nameOf(text);
    const due: Due = { name, timeUs, tie, seq, isCancelled: false, fire: () => {} };
    log.see(due, previous);
    previous = due;
  }
  return log.names();
}

describe('the order of a run', () => {
  test('is empty if events fire as scheduled, or alone', () => {
    expect(namesOf(['a', 1, 5, 1], ['b', 1, 6, 2], ['c', 2, 1, 0])).toEqual([]);
  });

  test('names all events of an instant at which two were swapped', () => {
    const events: Event[] = [
      ['a', 1, 4, 2],
      ['b', 1, 5, 1],
      ['c', 1, 6, 3],
    ];
    expect(namesOf(...events, ['d', 2, 1, 4])).toEqual(['a', 'b', 'c']);
  });

  test('names all events of an instant with a name that is ordered at another instant', () => {
    const before: Event[] = [
      ['w', 1, 1, 1],
      ['z', 1, 3, 2],
    ];
    const turned: Event[] = [
      ['x', 2, 2, 5],
      ['y', 2, 4, 3],
    ];
    const after: Event[] = [
      ['z', 3, 3, 6],
      ['y', 3, 4, 7],
    ];
    expect(namesOf(...before, ...turned, ...after)).toEqual(['w', 'x', 'z', 'y']);
  });

  test('omits an event that always fires first', () => {
    expect(namesOf(['healed', 1, FIRST, 9], ['a', 1, 5, 1], ['b', 1, 6, 2])).toEqual([]);
  });
});
