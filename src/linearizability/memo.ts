/**
 * Remembers the configurations that a search has met, and decides which new ones are worth a visit.
 * A configuration is `[next return, state, words of completed slots…, words of crashed slots…]`.
 * One that was met covers all that differ from it only by more crashed operations placed: whatever
 * follows from them follows from it, since a crashed operation never has to be placed.
 */
import { Integers } from './integers.ts';

const smallest = 256;

export class Memo {
  /** How many configurations it holds. */
  count = 0;
  /** How many configurations were compared with drafts, a measure of the time spent. */
  compared = 0;
  /** Words of one configuration. */
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
