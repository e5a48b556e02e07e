/**
 * Selects the relevant operations of a history and numbers them for the search. Completed
 * operations come first, ordered by return. Crashed operations follow, ordered by call. They may
 * take effect at any time after their call, or never.
 */
import { assert } from '../core/kernel/assert.ts';
import { Integers } from './integers.ts';
import { Interner } from './interner.ts';
import type { CallData, History, Model } from './model.ts';

/**
 * A history prepared for the search. Operations `open` at return `r` were called at or before `r`
 * and return at `r` or later. A slot is a bit of a configuration. A completed operation frees its
 * slot at its return; a crashed operation never does.
 */
export class PreparedHistory {
  completed = 0;
  crashed = 0;
  /** Number of bits for the completed operations that are open at once. */
  slots = 0;
  /** By operation: its index in the history, its class, 1 if it is pure, and its slot. */
  readonly source: Integers = new Integers();
  readonly classOf: Integers = new Integers();
  readonly isPure: Integers = new Integers();
  readonly slotOf: Integers = new Integers();
  /** By operation, the first return at which it is open; `completed` if there is none. */
  readonly opensAt: Integers = new Integers();
  /** By crashed operation, from 0: the previous crashed operation of its class, or -1. */
  readonly twin: Integers = new Integers();
  /**
   * Completed operations open at return `r`: from index `openStart(r)` up to `openStart(r + 1)`.
   */
  readonly open: Integers = new Integers();
  readonly openStart: Integers = new Integers();
  /** By return, the number of crashed operations that were called at or before it. */
  readonly crashedOpen: Integers = new Integers();

  private readonly classes: Interner = new Interner();
  private readonly freeSlots: Integers = new Integers();
  private readonly lastOfClass: Integers = new Integers();

  /** Loads a history and returns the call of each class. Equal calls are one class. */
  load(history: History, model: Model): readonly CallData[] {
    const { completed, crashed } = select(history, model);
    const invokeOf = (index: number): number => history[index]?.invoke ?? 0;
    const returnOf = (index: number): number => history[index]?.return ?? 0;
    sortBy(completed, returnOf);
    sortBy(crashed, invokeOf);
    this.completed = completed.length;
    this.crashed = crashed.length;
    const calls = this.classify(history, model, completed.concat(crashed));
    this.openUp(completed.map(invokeOf), completed.map(returnOf), crashed.map(invokeOf));
    this.findTwins();
    return calls;
  }

  private classify(
    history: History,
    model: Model,
    sources: readonly number[],
  ): readonly CallData[] {
    const calls: CallData[] = [];
    this.source.clear();
    this.classOf.clear();
    this.isPure.clear();
    this.classes.reset();
    for (const source of sources) {
      const operation = history[source];
      if (operation === undefined) continue;
      this.source.push(source);
      const callClass = this.classes.intern(operation.call);
      if (callClass === calls.length) calls.push(operation.call);
      this.classOf.push(callClass);
      this.isPure.push(model.isPure?.(operation.call) ? 1 : 0);
    }
    return calls;
  }

  private openUp(invokes: number[], returns: number[], crashedInvokes: number[]): void {
    const byInvoke = invokes.map((_, index) => index);
    sortBy(byInvoke, (index) => invokes[index] ?? 0);
    this.slots = 0;
    this.slotOf.reset(this.completed, 0);
    this.opensAt.reset(this.completed + this.crashed, this.completed);
    this.freeSlots.clear();
    this.open.clear();
    this.openStart.clear();
    this.crashedOpen.clear();
    let called = 0;
    let crashedCalled = 0;
    for (let next = 0; next < returns.length; next++) {
      const position = returns[next] ?? 0;
      this.closeBefore(next);
      for (; called < byInvoke.length; called++) {
        const operation = byInvoke[called] ?? 0;
        if ((invokes[operation] ?? 0) > position) break;
        this.insertOpen(operation, this.openStart.get(next));
        this.opensAt.set(operation, next);
        this.slotOf.set(operation, this.freeSlots.length > 0 ? this.freeSlots.pop() : this.slots++);
      }
      while ((crashedInvokes[crashedCalled] ?? Number.POSITIVE_INFINITY) <= position) {
        this.opensAt.set(this.completed + crashedCalled++, next);
      }
      this.crashedOpen.push(crashedCalled);
    }
    this.openStart.push(this.open.length);
    for (let crashed = 0; crashed < this.crashed; crashed++) this.slotOf.push(crashed);
  }

  /** Starts the list of `next` with the previous list, without the operation that returned. */
  private closeBefore(next: number): void {
    const end = this.open.length;
    this.openStart.push(end);
    if (next === 0) return;
    this.freeSlots.push(this.slotOf.get(next - 1));
    // The operation that returns first comes first in each list.
    for (let place = this.openStart.get(next - 1) + 1; place < end; place++) {
      this.open.push(this.open.get(place));
    }
  }

  private insertOpen(operation: number, start: number): void {
    this.open.push(operation);
    let place = this.open.length - 1;
    for (; place > start && this.open.get(place - 1) > operation; place--) {
      this.open.set(place, this.open.get(place - 1));
    }
    this.open.set(place, operation);
  }

  private findTwins(): void {
    this.twin.clear();
    this.lastOfClass.reset(this.classes.values.length, -1);
    for (let crashed = 0; crashed < this.crashed; crashed++) {
      const callClass = this.classOf.get(this.completed + crashed);
      this.twin.push(this.lastOfClass.get(callClass));
      this.lastOfClass.set(callClass, crashed);
    }
  }

  get bytes(): number {
    return this.open.bytes + 8 * this.source.bytes;
  }
}

/** Omits failed operations, and unanswered pure operations, which prove nothing. */
function select(
  history: History,
  model: Model,
): { readonly completed: number[]; readonly crashed: number[] } {
  const completed: number[] = [];
  const crashed: number[] = [];
  history.forEach((operation, index) => {
    if (operation.outcome === 'ok') {
      const end = operation.return;
      assert(end !== null && end >= operation.invoke, 'an ok operation returns after its call');
      completed.push(index);
    } else if (operation.outcome === 'info' && !model.isPure?.(operation.call)) {
      crashed.push(index);
    }
  });
  return { completed, crashed };
}

/** Sorts in place; equal positions keep their order. */
function sortBy(items: number[], position: (item: number) => number): void {
  let last = Number.NEGATIVE_INFINITY;
  for (const item of items) {
    const here = position(item);
    if (here < last) {
      items.sort((a, b) => position(a) - position(b) || a - b);
      return;
    }
    last = here;
  }
}
