/**
 * Determines which event happens next: a binary heap of due events with the total order `(timeUs,
 * tie, seq)`. `tie` is keyed by the event's name, so that over many seeds two simultaneous events
 * happen in both orders. `seq` is the order of scheduling, and decides between equal ties.
 */
import type { Name } from './name.ts';

/** An event at an instant. The scheduler sets `seq`. */
export interface Due {
  /** Name by which a plan can order simultaneous events. */
  readonly name: Name;
  readonly timeUs: number;
  readonly tie: number;
  /** True if canceled: the loop skips it as if it had never been scheduled. */
  readonly isCancelled: boolean;
  seq: number;
  fire(): void;
}

function isBefore(a: Due, b: Due): boolean {
  if (a.timeUs !== b.timeUs) return a.timeUs < b.timeUs;
  if (a.tie !== b.tie) return a.tie < b.tie;
  return a.seq < b.seq;
}

export class EventQueue {
  private readonly heap: Due[] = [];

  get size(): number {
    return this.heap.length;
  }

  push(due: Due): void {
    const heap = this.heap;
    let hole = heap.length;
    heap.push(due);
    while (hole > 0) {
      const parentAt = (hole - 1) >> 1;
      const parent = heap[parentAt];
      if (parent === undefined || !isBefore(due, parent)) break;
      heap[hole] = parent;
      hole = parentAt;
    }
    heap[hole] = due;
  }

  /** Removes and returns the first event, or undefined if there is none. */
  pop(): Due | undefined {
    const heap = this.heap;
    const first = heap[0];
    const last = heap.pop();
    if (last !== undefined && heap.length > 0) this.sink(last);
    return first;
  }

  /** Fills the root with `due` and sifts it down. */
  private sink(due: Due): void {
    const heap = this.heap;
    const size = heap.length;
    let hole = 0;
    for (;;) {
      let childAt = 2 * hole + 1;
      let child = heap[childAt];
      if (child === undefined) break;
      const right = childAt + 1 < size ? heap[childAt + 1] : undefined;
      if (right !== undefined && isBefore(right, child)) {
        child = right;
        childAt += 1;
      }
      if (!isBefore(child, due)) break;
      heap[hole] = child;
      hole = childAt;
    }
    heap[hole] = due;
  }
}
