/**
 * Looks depth-first for an order of a prepared history that the model allows: the algorithm of Wing
 * and Gong ("Testing and Verifying Concurrent Objects", 1993), with the configurations that were
 * met remembered as Lowe does ("Testing for Linearizability", 2017).
 *
 * A configuration says how far an order has come: the next return to satisfy, the state, and which
 * of the operations open there are placed. All that returned before is placed. An example, of a
 * register that begins with 0:
 *
 *     w(1) ├──────────────┤           return 0: r=0, return 1: w(1), return 2: r=1
 *       r=0 ├──┤    r=1 ├──────┤
 *
 * - (return 0, state 0, nothing placed): r=0 is pure, that is, it changes nothing, and legal, so it
 *   is placed at once, and return 0 is satisfied: (return 1, state 0, nothing placed).
 * - w(1) can be placed: (return 2, state 1); r=1 is legal and pure: no return is left. Found.
 * - Had r=0 read 2, it would be illegal, w(1) would be tried before it, then nothing is left to
 *   try. So no order satisfies return 0, however long the history is.
 *
 * Pruned without loss:
 *
 * - A pure operation is placed as soon as it is legal.
 * - Of equal open operations only the one that returns first is tried.
 * - Crashed operations may take effect at any time after their call, or never. A configuration that
 *   was met covers all that differ only by more of them placed: whatever follows from those follows
 *   from it, since a crashed operation never has to be placed (`Memo`).
 * - What the look-ahead calls hopeless, or alike.
 *
 * A search may also begin inside a history, in a window (see `decide.ts`). What was open there may
 * have come before, so that it may come or not, as if it had crashed, but only before its return.
 */
import { Integers } from './integers.ts';
import type { LookAhead, OpenOperations } from './look-ahead.ts';
import { PreparedHistory } from './prepare.ts';
import { noState, type Transitions, TransitionTables } from './transitions.ts';

export interface Budget {
  /** How many more may be met. */
  readonly maxConfigurations: number;
  /** How many more may be met in which no order comes further. */
  readonly patience: number;
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
  readonly start: Start;
}

/**
 * Where the search starts: just after the return before `next`, in any of `states`. What was called
 * by then and had not returned may have come before, so that it may come or not.
 */
interface Start {
  readonly next: number;
  readonly states: readonly number[];
}

export const theBeginning: Start = { next: 0, states: [0] };

/** `stuck`: its patience is over, and it may go on. */
export type SearchEnding =
  | 'found'
  | 'exhausted'
  | 'stuck'
  | 'maxConfigurations'
  | 'maxBytes'
  | 'shouldStop';

/** The rest is for what was outgrown and nobody has collected yet. */
const shareOfTables = 0.7;
/** Whether there is room is looked at so often, for as many configurations. */
const configurationsAhead = 32;
const comparedBetweenAsking = 1 << 16;

/** What the searches of one history share; its memory serves the next history too. */
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
  private start: Start = theBeginning;
  /** How many of its states were started from. */
  private started = 0;
  /** How many configurations were met when an order came further last. */
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

  /** Forgets what it met, to look for an order of what `history` was loaded with. */
  begin({ horizon, lookAhead, start }: Aim): void {
    this.horizon = horizon;
    this.lookAhead = lookAhead;
    this.start = start;
    this.started = 0;
    this.lay();
  }

  /** Tries all orders, or as many as `budget` lets it; then it may go on where it was. */
  go(steps: Transitions, budget: Budget): SearchEnding {
    const { memo, start } = this;
    const most = memo.count + budget.maxConfigurations;
    if (budget.maxConfigurations <= 0) return 'maxConfigurations';
    this.gotDeeperAt = memo.count;
    while (this.started < start.states.length || this.stack.length > 0) {
      // With the first configuration alone many a search is over.
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

  /** All states are started from before any of them is gone on with. */
  private advanceOrStart(steps: Transitions): 'found' | 'exhausted' | 'entered' {
    const state = this.start.states[this.started];
    if (state === undefined) return this.advance(steps);
    this.started += 1;
    this.draftStart(state);
    if (this.settle(steps)) return 'found';
    this.enter(-1, -1);
    return 'entered';
  }

  /** Whether there is no room for what the next steps may keep. */
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

  /** Lays out the words of a configuration: what may come or not has the slots of the crashed. */
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

  /** Whether it was open when the search starts, and returned. */
  private mayHaveCome(operation: number): boolean {
    if (this.start.next === 0 || operation >= this.history.completed) return false;
    return this.history.opensAt.get(operation) < this.start.next;
  }

  /** Places the next operation that the top frame can place; `exhausted` when it has none left. */
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

  /** Goes on as if what returns next, and is not placed, came before the search starts. */
  private passOver(steps: Transitions, from: number): 'found' | 'exhausted' | 'entered' {
    const { words, stride, draft } = this.memo;
    for (let word = 0; word < stride; word++)
      words.set(draft + word, words.get(from * stride + word));
    words.set(draft, words.get(draft) + 1);
    if (this.settle(steps)) return 'found';
    return this.enter(from, -1) ? 'entered' : 'exhausted';
  }

  /** Whether it makes sense to place `operation` next: `before` open ones return before it. */
  private mayTry(start: number, operation: number, firstOpen: number, before: number): boolean {
    const { history } = this;
    // A pure operation is not placed yet because it is illegal here.
    if (history.isPure.get(operation) === 1 || this.isPlaced(start, operation)) return false;
    const callClass = history.classOf.get(operation);
    for (let earlier = firstOpen; earlier < firstOpen + before; earlier++) {
      const other = history.open.get(earlier);
      if (history.classOf.get(other) !== callClass || this.isPlaced(start, other)) continue;
      // What need not come cannot come in place of what must.
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

  /** Places pure, legal calls and passes satisfied returns. True when no return is left. */
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

  /** Whether the draft satisfies a return; then the bit is free for others. */
  private passes(operation: number): boolean {
    const { draft } = this.memo;
    if (!this.isPlaced(draft, operation)) {
      return this.history.isPure.get(operation) === 1 && this.mayHaveCome(operation);
    }
    this.flip(draft, operation);
    return true;
  }

  /** Makes the draft the top frame, unless it is hopeless or covered by one that was met. */
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

  /** With what it shares. */
  get bytes(): number {
    return this.shared.bytes + this.ownBytes;
  }

  get ownBytes(): number {
    return this.memo.bytes + 3 * this.order.bytes + this.stack.bytes;
  }
}

const smallest = 256;

/** Remembers the configurations that a search has met, and which new ones are worth a visit. */
export class Memo {
  /** How many configurations it holds. */
  count = 0;
  /** How many configurations were compared with drafts, a measure of the time spent. */
  compared = 0;
  /** Words per configuration: next return, state, slots of completed and crashed operations. */
  stride = 2;
  /** The words of configuration `i` begin at `i * stride`; after the last lies the draft. */
  readonly words: Integers = new Integers();
  /** By configuration: the one that it came from, or -1, and the operation that was placed. */
  readonly parent: Integers = new Integers();
  readonly placed: Integers = new Integers();
  /** Words that must be equal: all but those of crashed slots. */
  private keyWords = 2;
  /** Heads of chains: a configuration plus one, or 0. Its size is a power of two. */
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

  /** Where the words of the draft begin; there is always room for it. */
  get draft(): number {
    return this.count * this.stride;
  }

  /** Keeps the draft as configuration `count`, unless one that was met covers it: then false. */
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

  /** How many bytes it takes to keep so many more beside what it holds; 0 while it has room. */
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
