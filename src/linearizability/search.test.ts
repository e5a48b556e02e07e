import { describe, expect, it } from 'vitest';
import { Memo } from './search.ts';

/** Drafts a configuration of one completed and one crashed word; whether it is worth a visit. */
function visit(memo: Memo, words: readonly number[]): boolean {
  const { draft } = memo;
  words.forEach((word, place) => {
    memo.words.set(draft + place, word);
  });
  return memo.keepDraft(-1, -1);
}

describe('a configuration that was met', () => {
  it('covers those with more crashed operations placed, and no others', () => {
    const memo = new Memo();
    memo.reset(1, 1);
    expect(visit(memo, [3, 1, 0b01, 0b010])).toBe(true);
    expect(visit(memo, [3, 1, 0b01, 0b010])).toBe(false);
    expect(visit(memo, [3, 1, 0b01, 0b110])).toBe(false);
    expect(visit(memo, [3, 1, 0b01, 0b100])).toBe(true);
    expect(visit(memo, [3, 1, 0b01, 0b000])).toBe(true);
    expect(visit(memo, [3, 1, 0b11, 0b010])).toBe(true);
    expect(visit(memo, [3, 2, 0b01, 0b010])).toBe(true);
    expect(visit(memo, [4, 1, 0b01, 0b010])).toBe(true);
  });
  it('is still known after thousands of others', () => {
    const memo = new Memo();
    memo.reset(1, 1);
    const all = Array.from({ length: 5_000 }, (_, index) => [index % 50, index, -index, 1]);
    expect(all.every((words) => visit(memo, words))).toBe(true);
    expect(all.some((words) => visit(memo, words))).toBe(false);
    memo.reset(1, 1);
    expect(all.every((words) => visit(memo, words))).toBe(true);
  });
});
