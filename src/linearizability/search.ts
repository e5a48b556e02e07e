/**
 * Looks depth-first for an order of a prepared history that the model allows. In a configuration
 * all that returned before its next return is placed, and nothing else but the open operations
 * whose bits are set. Pruned without loss: a pure operation is placed as soon as it is legal; of
 * equal open operations only the one that returns first is tried; and see `memo.ts`.
 */
import { Integers } from './integers.ts';
import { Memo } from './memo.ts';
import { PreparedHistory } from './prepare.ts';
import type { LookAhead } from './prospects.ts';
import { noState, TransitionTables } from './transitions.ts';

/** What the search asks about states, by number; state 0 is the first. */
export interface Steps {
  next(state: number, callClass: number): number;
  count(transition: number): number;
  pick(transition: number, choice: number): number;
}

export interface Budget {
  readonly maxConfigurations: number;
  /** How much the memory may hold, in bytes. */
  readonly maxBytes: number;
  /** Asked every 256 configurations, and sooner where they are compared with many. */
  readonly shouldStop: (() => boolean) | undefined;
}

/** What is looked for. */
export interface Aim {
  /** How many returns an order must satisfy; what returns later may come or not. */
  readonly horizon: number;
  readonly lookAhead: LookAhead | null;
}

export type Ending = 'found' | 'exhausted' | 'maxConfigurations' | 'maxBytes' | 'shouldStop';

const comparedBetweenAsking = 1 << 16;

export class Search {
  readonly history: PreparedHistory = new PreparedHistory();
  readonly tables: TransitionTables = new TransitionTables();
  readonly memo: Memo = new Memo();
  /** The operations placed so far, in their order. */
  readonly order: Integers = new Integers();
  /** The last return that is the next one of some configuration. */
  deepest = 0;

  /** By operation: the word of a configuration that has its bit, and the bit. */
  private readonly wordOf: Integers = new Integers();
  private readonly bitOf: Integers = new Integers();
  /** Frames `[configuration, next candidate, next choice, length of the order]`. */
  private readonly stack: Integers = new Integers();

  private askedAt = 0;
  private horizon = 0;
  private lookAhead: LookAhead | null = null;
  private readonly isPlacedInDraft = (operation: number): boolean =>
    this.isPlaced(this.memo.draft, operation);

  /** Tries all orders of what `history` was loaded with. */
  run(steps: Steps, { horizon, lookAhead }: Aim, budget: Budget): Ending {
    this.horizon = horizon;
    this.lookAhead = lookAhead;
    this.lay();
    if (this.settle(steps)) return 'found';
    this.enter(-1, -1);
    while (this.stack.length > 0) {
      const ending = this.advance(steps);
      if (ending === 'found') return 'found';
      if (ending === 'exhausted') {
        this.stack.length -= 4;
        continue;
      }
      if (this.memo.count >= budget.maxConfigurations) return 'maxConfigurations';
      const isTimeToAsk = this.isTimeToAsk();
      if ((isTimeToAsk || this.memo.bytesToGrow > 0) && this.isFull(budget)) return 'maxBytes';
      if (isTimeToAsk && budget.shouldStop?.()) return 'shouldStop';
    }
    return 'exhausted';
  }

  private isFull({ maxBytes }: Budget): boolean {
    // What was outgrown is collected some time later, so that it counts too.
    return 1.5 * this.bytes + 2 * this.memo.bytesToGrow > maxBytes;
  }

  private isTimeToAsk(): boolean {
    const { count, compared } = this.memo;
    if (count % 256 !== 0 && compared < this.askedAt + comparedBetweenAsking) return false;
    this.askedAt = compared;
    return true;
  }

  /** Lays out the words of a configuration and drafts the first one. */
  private lay(): void {
    const { history, memo } = this;
    const completedWords = (history.slots + 31) >>> 5;
    memo.reset(completedWords, (history.crashed + 31) >>> 5);
    this.wordOf.clear();
    this.bitOf.clear();
    for (let operation = 0; operation < history.completed + history.crashed; operation++) {
      const slot = history.slotOf.get(operation);
      const firstWord = operation < history.completed ? 2 : 2 + completedWords;
      this.wordOf.push(firstWord + (slot >>> 5));
      this.bitOf.push(1 << (slot & 31));
    }
    this.order.clear();
    this.stack.clear();
    this.deepest = 0;
    this.askedAt = 0;
  }

  /** Places the next operation that the top frame can place; `exhausted` when it has none left. */
  private advance(steps: Steps): 'found' | 'exhausted' | 'entered' {
    const { history, memo, stack, order } = this;
    const frame = stack.length - 4;
    const from = stack.get(frame);
    const start = from * memo.stride;
    const next = memo.words.get(start);
    const state = memo.words.get(start + 1);
    const firstOpen = history.openStart.get(next);
    const opens = history.openStart.get(next + 1) - firstOpen;
    const candidates = opens + history.crashedOpen.get(next);
    order.length = stack.get(frame + 3);
    for (let candidate = stack.get(frame + 1); candidate < candidates; candidate++) {
      const isCompleted = candidate < opens;
      const operation = isCompleted
        ? history.open.get(firstOpen + candidate)
        : history.completed + candidate - opens;
      if (!this.mayTry(start, operation, firstOpen, isCompleted ? candidate : opens)) continue;
      const transition = steps.next(state, history.classOf.get(operation));
      const choices = steps.count(transition);
      for (let choice = stack.get(frame + 2); choice < choices; choice++) {
        const reached = steps.pick(transition, choice);
        if (!isCompleted && reached === state) continue;
        this.draftFrom(start, operation, reached);
        if (this.settle(steps)) return 'found';
        stack.set(frame + 1, candidate);
        stack.set(frame + 2, choice + 1);
        if (this.enter(from, operation)) return 'entered';
        order.length = stack.get(frame + 3);
      }
      stack.set(frame + 2, 0);
    }
    return 'exhausted';
  }

  /** Whether it makes sense to place `operation` next: `before` open ones return before it. */
  private mayTry(start: number, operation: number, firstOpen: number, before: number): boolean {
    const { history } = this;
    // A pure operation is not placed yet because it is illegal here.
    if (history.isPure.get(operation) === 1 || this.isPlaced(start, operation)) return false;
    const callClass = history.classOf.get(operation);
    for (let earlier = firstOpen; earlier < firstOpen + before; earlier++) {
      const other = history.open.get(earlier);
      if (history.classOf.get(other) === callClass && !this.isPlaced(start, other)) return false;
    }
    if (operation < history.completed) return true;
    const twin = history.twin.get(operation - history.completed);
    return twin < 0 || this.isPlaced(start, history.completed + twin);
  }

  private isPlaced(start: number, operation: number): boolean {
    const word = this.memo.words.get(start + this.wordOf.get(operation));
    return (word & this.bitOf.get(operation)) !== 0;
  }

  private flip(start: number, operation: number): void {
    const { words } = this.memo;
    const at = start + this.wordOf.get(operation);
    words.set(at, words.get(at) ^ this.bitOf.get(operation));
  }

  private draftFrom(start: number, operation: number, state: number): void {
    const { words, stride, draft } = this.memo;
    for (let word = 0; word < stride; word++) words.set(draft + word, words.get(start + word));
    words.set(draft + 1, state);
    this.flip(draft, operation);
    this.order.push(operation);
  }

  /**
   * Places what is pure and legal in the draft, and passes the returns that are satisfied. True
   * when no return is left.
   */
  private settle(steps: Steps): boolean {
    const { history } = this;
    const { words, draft } = this.memo;
    const state = words.get(draft + 1);
    let next = words.get(draft);
    for (;;) {
      if (next >= this.horizon) return true;
      const end = history.openStart.get(next + 1);
      for (let place = history.openStart.get(next); place < end; place++) {
        const operation = history.open.get(place);
        if (history.isPure.get(operation) === 0 || this.isPlaced(draft, operation)) continue;
        if (steps.next(state, history.classOf.get(operation)) === noState) continue;
        this.flip(draft, operation);
        this.order.push(operation);
      }
      if (!this.isPlaced(draft, next)) break;
      while (next < this.horizon && this.isPlaced(draft, next)) this.flip(draft, next++);
    }
    words.set(draft, next);
    if (next > this.deepest) this.deepest = next;
    if (this.lookAhead !== null) words.set(draft + 1, this.lookAhead.canonical(next, state));
    return false;
  }

  /**
   * Makes the draft the top frame, unless it is hopeless or covered by a configuration that was
   * met.
   */
  private enter(parent: number, placed: number): boolean {
    const configuration = this.memo.count;
    if (this.lookAhead !== null && this.isHopeless(this.lookAhead)) return false;
    if (!this.memo.keepDraft(parent, placed)) return false;
    this.stack.push(configuration);
    this.stack.push(0);
    this.stack.push(0);
    this.stack.push(this.order.length);
    return true;
  }

  private isHopeless(lookAhead: LookAhead): boolean {
    const { draft, words } = this.memo;
    return lookAhead.isHopeless(words.get(draft), words.get(draft + 1), this.isPlacedInDraft);
  }

  get bytes(): number {
    const { history, tables, memo, order, stack } = this;
    return history.bytes + tables.bytes + memo.bytes + 3 * order.bytes + stack.bytes;
  }
}
