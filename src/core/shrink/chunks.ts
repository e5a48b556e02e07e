/**
 * Drops what it can of a list: first everything, then halves, and so on down to single items (the
 * sizes of Zeller's delta debugging).
 */
import type { Plan } from '../plan/plan.ts';
import type { Search, Steps } from './search.ts';

export interface Droppable<Item> {
  readonly list: (plan: Plan) => readonly Item[];
  /** `plan` without the items given; equal to `plan` when they cannot go. */
  readonly without: (plan: Plan, items: readonly Item[]) => Plan;
}

/** When a turn accepts nothing, no single item of the current plan can go. */
export function* dropInChunks<Item>(
  search: Search,
  { list, without }: Droppable<Item>,
): Steps<void> {
  for (let size = list(search.current).length; size >= 1; size = Math.floor(size / 2)) {
    let start = 0;
    for (;;) {
      const chunk = list(search.current).slice(start, start + size);
      if (chunk.length === 0) break;
      // What follows an item that went has moved into its place, so `start` stays.
      if (!(yield* search.attempt(without(search.current, chunk)))) start += size;
    }
  }
}
