/**
 * For each return the awaited states to look after there: a call that needs one is still to open,
 * must come, and all that may bring the state about in time has opened already. Few of them, the
 * most urgent first.
 */
import type { Json } from '../core/kernel/json.ts';
import type { Awaits } from './awaits.ts';
import { Integers } from './integers.ts';
import type { CallData } from './operation.ts';
import type { PreparedHistory } from './prepare.ts';

const most = 8;
const mostLookedAt = 32;

type Needs = Pick<Awaits<Json, CallData>, 'awaited' | 'isGoal' | 'supplyBefore'>;

export class Criticals {
  private readonly starts: Integers = new Integers();
  private readonly states: Integers = new Integers();

  constructor(awaits: Needs, history: PreparedHistory, horizon: number) {
    const { opensAt } = history;
    const begin = (operation: number): number => awaits.supplyBefore.get(operation);
    const waiting = waitingOperations(awaits, history, horizon);
    waiting.sort((a, b) => begin(a) - begin(b) || opensAt.get(a) - opensAt.get(b));
    const active: number[] = [];
    let head = 0;
    let begun = 0;
    for (let next = 0; next < horizon; next++) {
      for (; begun < waiting.length; begun++) {
        const operation = waiting[begun] ?? 0;
        if (begin(operation) > next) break;
        insert(active, head, operation, opensAt);
      }
      while (head < active.length && opensAt.get(active[head] ?? 0) <= next) head++;
      this.starts.push(this.states.length);
      const end = Math.min(active.length, head + mostLookedAt);
      for (let place = head; place < end; place++) {
        const operation = active[place] ?? 0;
        this.add(awaits.awaited.get(history.classOf.get(operation)));
      }
    }
    this.starts.push(this.states.length);
  }

  /** Adds a state to those of the last return, once. */
  private add(state: number): void {
    const start = this.starts.get(this.starts.length - 1);
    if (this.states.length - start >= most) return;
    for (let place = start; place < this.states.length; place++) {
      if (this.states.get(place) === state) return;
    }
    this.states.push(state);
  }

  /** Those at `next` are `at(place)` for the places from `from(next)` up to `from(next + 1)`. */
  from(next: number): number {
    return this.starts.get(next);
  }

  at(place: number): number {
    return this.states.get(place);
  }
}

/** Those that need a state and open later than all that may bring it about. */
function waitingOperations(awaits: Needs, history: PreparedHistory, horizon: number): number[] {
  const waiting: number[] = [];
  for (let operation = 0; operation < horizon; operation++) {
    if (awaits.isGoal.get(history.classOf.get(operation)) === 0) continue;
    if (awaits.supplyBefore.get(operation) < history.opensAt.get(operation))
      waiting.push(operation);
  }
  return waiting;
}

/** Keeps `active`, from `head` on, sorted by where each opens. */
function insert(active: number[], head: number, operation: number, opensAt: Integers): void {
  const own = opensAt.get(operation);
  let low = head;
  let high = active.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (opensAt.get(active[middle] ?? 0) <= own) low = middle + 1;
    else high = middle;
  }
  active.splice(low, 0, operation);
}
