import { describe, expect, it } from 'vitest';
import { decide } from './decide.ts';
import { casRegister } from './models/register.ts';
import { by, read, write } from './operations.fixture.ts';
import { Memo, OrderSearch, Shared } from './search.ts';
import { Transitions } from './transitions.ts';

/** Drafts a configuration; returns true if it is worth a visit. */
function visit(memo: Memo, words: readonly number[]): boolean {
  const { draft } = memo;
  words.forEach((word, place) => {
    memo.words.set(draft + place, word);
  });
  return memo.keepDraft(-1, -1);
}

describe('a visited configuration', () => {
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

describe('a search that begins inside a history', () => {
  const key = 'x';
  const cas = { name: 'cas', key, expected: 1, value: 2, answer: 'matched' } as const;
  /** The only order: w(1), the cas of a, w(3), w(1), the cas of d, r=2. */
  const history = [
    by('a', cas, 0, 100),
    by('b', write(1), 0, 5),
    by('b', write(3), 6, 10),
    by('c', write(1), 20, 30),
    by('d', cas, 40, 110),
    by('e', read(2), 50, 60),
  ];
  /**
   * Of equal open operations, only the one that returns first is tried, here the cas of a. But a
   * called it before the search begins, so it may have taken effect already. If it is tried instead
   * of that of d, which must come, no 1 is left for d. `mayTry` must let d go first; a mistake
   * there refutes windows, and therefore histories, that have an order.
   */
  it('tries an operation that must come before an equal one that may be over', () => {
    const model = casRegister(0);
    expect(decide(history, model, { isSearchOnly: true }).kind).toBe('valid');
    const shared = new Shared();
    const search = new OrderSearch(shared);
    const transitions = new Transitions(model, shared.history.load(history, model), shared.tables);
    const states = [0, 1, 2, 3].map((value) => transitions.number(value));
    const afterTwoWrites = { next: 2, states };
    const aim = { horizon: history.length, lookAhead: null, start: afterTwoWrites };
    const limits = { maxConfigurations: 1_000, patience: 1_000, maxBytes: 1e9 };
    search.begin(aim);
    expect(search.go(transitions, { ...limits, shouldStop: undefined })).toBe('found');
  });
  it('uses no memory for operations that ended before it begins', () => {
    const model = casRegister(0);
    const strideAt = (next: number): number => {
      const shared = new Shared();
      const search = new OrderSearch(shared);
      const long = Array.from({ length: 200 }, (_, at) => by('a', write(at), 3 * at, 3 * at + 1));
      shared.history.load(long, model);
      search.begin({ horizon: 200, lookAhead: null, start: { next, states: [0] } });
      return search.memo.stride;
    };
    expect(strideAt(190)).toBe(strideAt(1));
  });
  /**
   * From the return of b on: nothing placed, then w(2), then w(1) after it; and w(1) alone. With
   * w(2) after that the value is 2 as before, and only an operation that may be over is placed as
   * well.
   */
  it('skips configurations that a visited one covers with fewer optional operations placed', () => {
    const overlapping = [
      by('a', write(1), 0, 100),
      by('b', write(5), 1, 2),
      by('c', write(2), 10, 20),
      by('d', read(9), 30, 40),
    ];
    const model = casRegister(0);
    const shared = new Shared();
    const search = new OrderSearch(shared);
    const calls = shared.history.load(overlapping, model);
    const transitions = new Transitions(model, calls, shared.tables);
    search.begin({ horizon: 4, lookAhead: null, start: { next: 1, states: [0] } });
    const limits = { maxConfigurations: 1_000, patience: 1_000, maxBytes: 1e9 };
    expect(search.go(transitions, { ...limits, shouldStop: undefined })).toBe('exhausted');
    expect(search.memo.count).toBe(4);
  });
});

it('a memory uses four numbers per configuration beside its words, and at most twice that', () => {
  const memo = new Memo();
  memo.reset(1, 1);
  for (let index = 0; index < 1_000; index++) visit(memo, [index, 0, 0, 0]);
  const { bytes, count, stride } = memo;
  expect(count).toBe(1_000);
  // Beside its words: its predecessor, its last operation, the next of its chain, and a head.
  expect(bytes).toBeGreaterThanOrEqual(4 * count * (stride + 4));
  expect(bytes).toBeLessThan(2 * 4 * count * (stride + 4));
  expect(memo.bytesToGrow(0)).toBe(0);
  expect(memo.bytesToGrow(10_000)).toBeGreaterThanOrEqual(4 * 10_000 * (stride + 3));
});
