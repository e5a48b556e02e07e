/**
 * Searches depth-first for an order of a prepared history that the model allows. The algorithm is
 * that of Wing and Gong ("Testing and Verifying Concurrent Objects", 1993), with a memo of visited
 * configurations as in Lowe ("Testing for Linearizability", 2017).
 *
 * A configuration is the progress of an order: the next return to satisfy, the state, and the open
 * operations that are placed. All operations that returned earlier are placed. For example, in a
 * history of a register that begins with 0:
 *
 *     w(1) ├──────────────┤           return 0: r=0, return 1: w(1), return 2: r=1
 *       r=0 ├──┤    r=1 ├──────┤
 *
 * - (return 0, state 0, nothing placed): r=0 is pure (it changes nothing) and legal, so it is
 *   placed at once. Return 0 is then satisfied: (return 1, state 0, nothing placed).
 * - w(1) can be placed: (return 2, state 1). There, r=1 is pure and legal, so no return is left,
 *   and an order is found.
 * - If r=0 had read 2, it would be illegal both before and after w(1). No order would satisfy
 *   return 0, however long the history is.
 *
 * Pruning that loses no order:
 *
 * - A pure operation is placed as soon as it is legal.
 * - Of equal open operations, only the one that returns first is tried.
 * - Crashed operations may take effect at any time after their call, or never. A visited
 *   configuration therefore covers every configuration that differs only in more placed crashed
 *   operations (`Memo`).
 * - The look-ahead excludes hopeless configurations and merges equivalent ones.
 *
 * A search may also begin inside a history, in a window (see `decide.ts`). An operation that is
 * open at the start of the window may have happened earlier. It is optional, like a crashed
 * operation, but can be placed only before its return.
 */
import { Integers } from './integers.ts';
import type { LookAhead, OpenOperations } from './look-ahead.ts';
import { PreparedHistory } from './prepare.ts';
import { noState, type Transitions, TransitionTables } from './transitions.ts';

export interface Budget {
  /** Maximum number of further configurations to visit. */
  readonly maxConfigurations: number;
  /** Maximum number of further configurations to visit without progress. */
  readonly patience: number;
  /** Maximum memory to use, in bytes. */
  readonly maxBytes: number;
  /** Called every 256 configurations, and more often if comparisons are slow. */
  readonly shouldStop: (() => boolean) | undefined;
}

/** The goal of a search. */
export interface Aim {
  /** Number of returns that an order must satisfy; operations that return later are optional. */
  readonly horizon: number;
  readonly lookAhead: LookAhead | null;
  readonly start: Start;
}

/**
 * The start of a search: just after the return before `next`, in any of `states`. Operations open
 * there may already have happened, so they are optional.
 */
interface Start {
  readonly next: number;
  readonly states: readonly number[];
}

export const theBeginning: Start = { next: 0, states: [0] };

/** `stuck`: the search ran out of patience, and can be continued. */
export type SearchEnding =
  | 'found'
  | 'exhausted'
  | 'stuck'
  | 'maxConfigurations'
  | 'maxBytes'
  | 'shouldStop';

/** Share of the memory for tables. The rest is for replaced arrays that are not collected yet. */
const shareOfTables = 0.7;
/** Each check for free space covers this many further configurations. */
const configurationsAhead = 32;
const comparedBetweenAsking = 1 << 16;

/** Memory shared by the searches of one history, and reused for the next history. */
export class Shared {
  readonly history: PreparedHistory = new PreparedHistory();
  readonly tables: TransitionTables = new TransitionTables();

  get bytes(): number {
    return this.history.bytes + this.tables.bytes;
  }
}

export class OrderSearch {
  readonly shared: Shared;
  readonly history: PreparedHistory;
  readonly memo: Memo = new Memo();
  /** The operations placed so far, in order. */
  readonly order: Integers = new Integers();
  /** The highest `next` (the next return to satisfy) of all configurations visited so far. */
  deepest = 0;

  /** By operation, the word and the mask of its bit in a configuration. */
  private readonly wordOf: Integers = new Integers();
  private readonly bitOf: Integers = new Integers();
  /** Frames `[configuration, next candidate, next choice, length of the order]`. */
  private readonly stack: Integers = new Integers();

  private askedAt = 0;
  private horizon = 0;
  private start: Start = theBeginning;
  /** Number of start states that were entered. */
  private started = 0;
  /** Number of configurations visited at the last progress. */
  private gotDeeperAt = 0;
  private lookAhead: LookAhead | null = null;
  private readonly inDraft: OpenOperations = {
    isPlaced: (operation) => this.isPlaced(this.memo.draft, operation),
    mustCome: (operation) => !this.mayHaveCome(operation),
  };

  constructor(shared: Shared) {
    this.shared = shared;
    this.history = shared.history;
  }

  begin({ horizon, lookAhead, start }: Aim): void {
    this.horizon = horizon;
    this.lookAhead = lookAhead;
    this.start = start;
    this.started = 0;
    this.lay();
  }

  /** Tries all orders within `budget`. Can be called again to continue the search. */
  go(steps: Transitions, budget: Budget): SearchEnding {
    const { memo, start } = this;
    const most = memo.count + budget.maxConfigurations;
    if (budget.maxConfigurations <= 0) return 'maxConfigurations';
    this.gotDeeperAt = memo.count;
    while (this.started < start.states.length || this.stack.length > 0) {
      // Allows at least two configurations, since many searches end after the first.
      if (memo.count >= Math.max(2, most)) return 'maxConfigurations';
      if (memo.count >= this.gotDeeperAt + budget.patience) return 'stuck';
      const ending = this.advanceOrStart(steps);
      if (ending === 'found') return 'found';
      if (ending === 'exhausted') {
        this.stack.length -= 4;
        continue;
      }
      const isTimeToAsk = this.isTimeToAsk();
      const isTimeToCount = isTimeToAsk || memo.count % configurationsAhead === 0;
      if (isTimeToCount && this.isFull(budget)) return 'maxBytes';
      if (isTimeToAsk && budget.shouldStop?.()) return 'shouldStop';
    }
    return 'exhausted';
  }

  /** Enters all start states before it advances any of them. */
  private advanceOrStart(steps: Transitions): 'found' | 'exhausted' | 'entered' {
    const state = this.start.states[this.started];
    if (state === undefined) return this.advance(steps);
    this.started += 1;
    this.draftStart(state);
    if (this.settle(steps)) return 'found';
    this.enter(-1, -1);
    return 'entered';
  }

  private isFull({ maxBytes }: Budget): boolean {
    const { memo, shared, stack } = this;
    const bytesToGrow =
      memo.bytesToGrow(configurationsAhead) +
      shared.tables.bytesToGrow +
      stack.bytesToHold(stack.length + 4 * configurationsAhead);
    return this.bytes + bytesToGrow > shareOfTables * maxBytes;
  }

  private isTimeToAsk(): boolean {
    const { count, compared } = this.memo;
    if (count % 256 !== 0 && compared < this.askedAt + comparedBetweenAsking) return false;
    this.askedAt = compared;
    return true;
  }

  /** Lays out the words of a configuration. Optional operations get slots after crashed ones. */
  private lay(): void {
    const { history, memo } = this;
    const completedWords = (history.slots + 31) >>> 5;
    let crashedSlots = history.crashed;
    this.wordOf.clear();
    this.bitOf.clear();
    for (let operation = 0; operation < history.completed + history.crashed; operation++) {
      const mayHaveCome = operation >= this.start.next && this.mayHaveCome(operation);
      const slot = mayHaveCome ? crashedSlots++ : history.slotOf.get(operation);
      const isCompleted = operation < history.completed && !mayHaveCome;
      this.wordOf.push((isCompleted ? 2 : 2 + completedWords) + (slot >>> 5));
      this.bitOf.push(1 << (slot & 31));
    }
    memo.reset(completedWords, (crashedSlots + 31) >>> 5);
    this.order.clear();
    this.stack.clear();
    this.deepest = this.start.next;
    this.askedAt = 0;
  }

  private draftStart(state: number): void {
    const { words, draft, stride } = this.memo;
    for (let word = 0; word < stride; word++) words.set(draft + word, 0);
    words.set(draft, this.start.next);
    words.set(draft + 1, state);
  }

  /** Returns true for an operation that was open at the start of the search and returned later. */
  private mayHaveCome(operation: number): boolean {
    if (this.start.next === 0 || operation >= this.history.completed) return false;
    return this.history.opensAt.get(operation) < this.start.next;
  }

  /** Places the next operation that the top frame can place, or returns `exhausted`. */
  private advance(steps: Transitions): 'found' | 'exhausted' | 'entered' {
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
      const mustCome = isCompleted && !this.mayHaveCome(operation);
      const transition = steps.next(state, history.classOf.get(operation));
      const choices = steps.count(transition);
      for (let choice = stack.get(frame + 2); choice < choices; choice++) {
        const reached = steps.pick(transition, choice);
        if (!mustCome && reached === state) continue;
        this.draftFrom(start, operation, reached);
        if (this.settle(steps)) return 'found';
        stack.set(frame + 1, candidate);
        stack.set(frame + 2, choice + 1);
        if (this.enter(from, operation)) return 'entered';
        order.length = stack.get(frame + 3);
      }
      stack.set(frame + 2, 0);
    }
    if (stack.get(frame + 1) > candidates || !this.mayHaveCome(next)) return 'exhausted';
    stack.set(frame + 1, candidates + 1);
    return this.passOver(steps, from);
  }

  /** Continues as if the next operation to return had happened before the start. */
  private passOver(steps: Transitions, from: number): 'found' | 'exhausted' | 'entered' {
    const { words, stride, draft } = this.memo;
    for (let word = 0; word < stride; word++)
      words.set(draft + word, words.get(from * stride + word));
    words.set(draft, words.get(draft) + 1);
    if (this.settle(steps)) return 'found';
    return this.enter(from, -1) ? 'entered' : 'exhausted';
  }

  /**
   * Returns true if `operation` is worth placing. `before` counts open operations that return
   * earlier.
   */
  private mayTry(start: number, operation: number, firstOpen: number, before: number): boolean {
    const { history } = this;
    // A pure operation that is not placed yet is illegal here.
    if (history.isPure.get(operation) === 1 || this.isPlaced(start, operation)) return false;
    const callClass = history.classOf.get(operation);
    for (let earlier = firstOpen; earlier < firstOpen + before; earlier++) {
      const other = history.open.get(earlier);
      if (history.classOf.get(other) !== callClass || this.isPlaced(start, other)) continue;
      // An optional operation cannot replace an operation that must be placed.
      const mustCome = operation < history.completed && !this.mayHaveCome(operation);
      if (!mustCome || !this.mayHaveCome(other)) return false;
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

  /** Places legal pure calls and passes satisfied returns. Returns true if no return is left. */
  private settle(steps: Transitions): boolean {
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
        if (this.mayHaveCome(operation)) continue;
        if (steps.next(state, history.classOf.get(operation)) === noState) continue;
        this.flip(draft, operation);
        this.order.push(operation);
      }
      const before = next;
      while (next < this.horizon && this.passes(next)) next++;
      if (next === before) break;
    }
    words.set(draft, next);
    if (next > this.deepest) {
      this.deepest = next;
      this.gotDeeperAt = this.memo.count;
    }
    if (this.lookAhead !== null) words.set(draft + 1, this.lookAhead.canonical(next, state));
    return false;
  }

  /**
   * Returns true if the draft satisfies the return of `operation`, and frees the operation's bit.
   */
  private passes(operation: number): boolean {
    const { draft } = this.memo;
    if (!this.isPlaced(draft, operation)) {
      return this.history.isPure.get(operation) === 1 && this.mayHaveCome(operation);
    }
    this.flip(draft, operation);
    return true;
  }

  /** Makes the draft the top frame, unless it is hopeless or covered by a visited configuration. */
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
    return lookAhead.isHopeless(words.get(draft), words.get(draft + 1), this.inDraft);
  }

  /** Memory in use, including shared memory. */
  get bytes(): number {
    return this.shared.bytes + this.retainedBytes;
  }

  get retainedBytes(): number {
    return this.memo.bytes + 3 * this.order.bytes + this.stack.bytes;
  }
}

const smallest = 256;

/** The configurations that a search has visited. Rejects new configurations that they cover. */
export class Memo {
  count = 0;
  /** Number of comparisons of configurations with drafts, a measure of time. */
  compared = 0;
  /** Words per configuration: next return, state, slots of completed and crashed operations. */
  stride = 2;
  /** The words of configuration `i` begin at `i * stride`. The draft comes last. */
  readonly words: Integers = new Integers();
  /** By configuration: its predecessor and the operation placed in it, or -1 if none. */
  readonly parent: Integers = new Integers();
  readonly placed: Integers = new Integers();
  /** Number of words that must be equal: all but the words of crashed slots. */
  private keyWords = 2;
  /** Heads of hash chains: a configuration plus one, or 0 if empty. The size is a power of two. */
  private readonly heads: Integers = new Integers();
  private readonly chain: Integers = new Integers();

  reset(completedWords: number, crashedWords: number): void {
    this.count = 0;
    this.compared = 0;
    this.keyWords = 2 + completedWords;
    this.stride = this.keyWords + crashedWords;
    this.words.reset(64 * this.stride, 0);
    this.parent.clear();
    this.placed.clear();
    this.chain.clear();
    this.heads.reset(smallest, 0);
  }

  /** Space for the draft is always reserved. */
  get draft(): number {
    return this.count * this.stride;
  }

  /**
   * Keeps the draft as configuration `count`. Returns false if a visited configuration covers it.
   */
  keepDraft(parent: number, placed: number): boolean {
    const head = this.hash(this.draft) & (this.heads.length - 1);
    for (let met = this.heads.get(head) - 1; met >= 0; met = this.chain.get(met)) {
      this.compared += 1;
      if (this.covers(met * this.stride)) return false;
    }
    this.chain.push(this.heads.get(head) - 1);
    this.parent.push(parent);
    this.placed.push(placed);
    this.count += 1;
    this.heads.set(head, this.count);
    this.words.reserve(this.draft + this.stride);
    if (this.count > this.heads.length) this.widen();
    return true;
  }

  /** Returns the bytes that `more` configurations would allocate; 0 if there is space. */
  bytesToGrow(more: number): number {
    const { words, parent, heads, stride } = this;
    const count = this.count + more;
    const widened = count > heads.length ? 2 * heads.bytes : 0;
    const drafts = words.bytesToHold((count + 1) * stride);
    return drafts + 3 * parent.bytesToHold(count) + widened;
  }

  private covers(met: number): boolean {
    const { words, draft } = this;
    let word = 0;
    for (; word < this.keyWords; word++) {
      if (words.get(met + word) !== words.get(draft + word)) return false;
    }
    for (; word < this.stride; word++) {
      if ((words.get(met + word) & ~words.get(draft + word)) !== 0) return false;
    }
    return true;
  }

  private hash(start: number): number {
    let hash = 0;
    for (let word = 0; word < this.keyWords; word++) {
      hash = Math.imul(hash ^ this.words.get(start + word), 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    return hash;
  }

  private widen(): void {
    this.heads.reset(2 * this.heads.length, 0);
    const mask = this.heads.length - 1;
    for (let met = 0; met < this.count; met++) {
      const head = this.hash(met * this.stride) & mask;
      this.chain.set(met, this.heads.get(head) - 1);
      this.heads.set(head, met + 1);
    }
  }

  get bytes(): number {
    const perConfiguration = this.parent.bytes + this.placed.bytes + this.chain.bytes;
    return this.words.bytes + this.heads.bytes + perConfiguration;
  }
}
