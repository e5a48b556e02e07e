import { describe, expect, it } from 'vitest';
import type { CallData, Model } from './model.ts';
import { noState, Transitions, TransitionTables } from './transitions.ts';

let asked = 0;
const walk: Model<number, CallData & { readonly by: number }> = {
  name: 'walk',
  init: 0,
  step(place, { name, by }) {
    asked += 1;
    if (name === 'stay') return place < by ? [place] : [];
    return name === 'either' ? [place + by, place - by] : [place + by];
  },
};
const calls = [
  { name: 'go', by: 1 },
  { name: 'either', by: 2 },
  { name: 'stay', by: 1 },
];

function open(count = 0): { tables: TransitionTables; steps: Transitions<number> } {
  const tables = new TransitionTables();
  const more = Array.from({ length: count }, (_, by) => ({ name: 'go', by: 10 + by }));
  return { tables, steps: new Transitions(walk, [...calls, ...more], tables) };
}

describe('the states of a search', () => {
  it('are numbered as they are found, starting at 0, and each step is computed once', () => {
    const { steps } = open();
    asked = 0;
    for (let round = 0; round < 3; round++) {
      expect([steps.next(0, 0), steps.next(1, 0), steps.next(0, 2)]).toEqual([1, 2, 0]);
      expect(steps.next(1, 2)).toBe(noState);
    }
    expect(asked).toBe(4);
    expect(steps.states).toEqual([0, 1, 2]);
    expect([steps.count(noState), steps.count(0), steps.count(2)]).toEqual([0, 1, 1]);
    expect(steps.pick(2, 0)).toBe(2);
  });
  it('may be several after one step', () => {
    const { steps, tables } = open();
    const first = steps.next(0, 1);
    const second = steps.next(steps.next(0, 0), 1);
    expect(steps.states).toEqual([0, 2, -2, 1, 3, -1]);
    for (const [transition, states] of [
      [first, [1, 2]],
      [second, [4, 5]],
    ] as const) {
      expect(steps.count(transition)).toBe(2);
      expect([0, 1].map((choice) => steps.pick(transition, choice))).toEqual(states);
      expect(transition).toBeLessThan(-2);
    }
    expect(tables.manyBytes).toBe(2 * (128 + 32));
  });
  it('are found beyond the dense table, and forgotten with the next history', () => {
    // With so many classes the table is not dense for any state.
    const { steps, tables } = open(1 << 18);
    asked = 0;
    let state = 0;
    for (let step = 0; step < 400; step++) state = steps.next(state, 0);
    expect([state, asked, tables.used]).toEqual([400, 400, 400]);
    const bytes = tables.sparse.bytes;
    state = 0;
    for (let step = 0; step < 400; step++) state = steps.next(state, 0);
    expect([state, asked, tables.sparse.bytes]).toEqual([400, 400, bytes]);
    expect([steps.next(1, 2), steps.next(1, 2), asked]).toEqual([noState, noState, 401]);
    tables.reset();
    expect([tables.used, tables.manyBytes, tables.states.values]).toEqual([0, 0, []]);
  });
  it('use more memory once their table is half full', () => {
    const tables = new TransitionTables();
    tables.reset();
    const grown = (used: number): number => {
      tables.used = used;
      return tables.bytesToGrow - tables.states.bytesToGrow;
    };
    // 121 plus a sixteenth of it is 128, half of 256 places.
    expect([grown(0), grown(120), grown(121)]).toEqual([0, 0, 0]);
    expect(grown(122)).toBe(2 * tables.sparse.bytes);
    expect(tables.bytes).toBe(tables.states.bytes + tables.dense.bytes + tables.sparse.bytes);
  });
  it('are distinguished by their key', () => {
    const coarse = { ...walk, stateKey: (place: number): number => place % 2 };
    const steps = new Transitions(coarse, calls, new TransitionTables());
    expect([steps.number(2), steps.number(3), steps.number(5)]).toEqual([0, 1, 1]);
    expect(steps.states).toEqual([0, 3]);
  });
});
