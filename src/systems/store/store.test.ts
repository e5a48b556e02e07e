import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { StoreReply } from './request.ts';
import { Store, stores } from './store.ts';

interface Ask {
  readonly verb: 'write' | 'read' | 'open' | 'crash' | 'failover';
  readonly token: number;
  readonly key: string;
  readonly sequence: number;
}

function storeOf(name: string): Store {
  const rule = stores.get(name);
  if (rule === undefined) throw new Error(`there is no store ${name}`);
  return new Store(rule);
}

/** A write with its token as the value, unless `more` says otherwise. */
function ask(verb: Ask['verb'], token: number, more: Partial<Ask> = {}): Ask {
  return { verb, token, key: 'x', sequence: 1, ...more };
}

function answer(store: Store, { verb, token, key, sequence }: Ask): StoreReply | null {
  const access = { resource: 'db', key, token, sequence };
  if (verb === 'write') return store.write(access, token);
  if (verb === 'read') return store.read(access);
  if (verb === 'open') return store.open(access);
  if (verb === 'crash') store.crash();
  else store.snapshot()();
  return null;
}

/** Returns `+` for each accepted or served access, and `-` for each refused one. */
function pattern(name: string, asks: readonly Ask[]): string {
  const store = storeOf(name);
  return asks
    .map((one) => answer(store, one))
    .map((it) => (it === null ? '' : it.kind === 'refused' ? '-' : '+'))
    .join('');
}

const all = [...stores.keys()];
/** Stores that accept a lower token, each for a different reason. */
const blind = ['unfenced', 'fence-inverted', 'highest-not-updated', 'client-side-fence'];

function allBut(...names: readonly string[]): readonly string[] {
  return all.filter((name) => !names.includes(name));
}

/** Sequences on which the variants differ, and the stores that refuse the last access. */
const sequences: ReadonlyMap<string, { asks: readonly Ask[]; minus: readonly string[] }> = new Map([
  [
    'a lower token',
    {
      asks: [ask('write', 2), ask('write', 1)],
      minus: allBut(...blind),
    },
  ],
  [
    'a higher token',
    {
      asks: [ask('write', 1), ask('write', 2)],
      minus: ['unique-token', 'fence-inverted', 'fence-equality'],
    },
  ],
  [
    'no token',
    {
      asks: [ask('write', 2), ask('write', 0)],
      minus: allBut(...blind, 'token-missing-accepted'),
    },
  ],
  [
    'a lower token after a failover',
    {
      asks: [ask('write', 2), ask('failover', 0), ask('write', 1)],
      minus: allBut(...blind, 'highest-on-one-replica'),
    },
  ],
  [
    'an equal token, with the next sequence number',
    { asks: [ask('write', 1), ask('write', 1, { sequence: 2 })], minus: ['fenced-strict'] },
  ],
  [
    'an equal token, with the same sequence number',
    { asks: [ask('write', 1), ask('write', 1)], minus: ['fenced-strict', 'fenced-sequenced'] },
  ],
  [
    'a lower token after a higher read',
    { asks: [ask('read', 2), ask('write', 1)], minus: ['fenced-reads', 'fenced-open'] },
  ],
  [
    'a read with a lower token than was written',
    { asks: [ask('write', 2), ask('read', 1)], minus: ['fenced-reads', 'fenced-open'] },
  ],
  [
    'a lower token after a crash',
    {
      asks: [ask('write', 2), ask('crash', 0), ask('write', 1)],
      minus: allBut(...blind, 'fenced-volatile'),
    },
  ],
  [
    'a lower token on another key',
    {
      asks: [ask('write', 2), ask('write', 1, { key: 'y' })],
      minus: allBut(...blind, 'fenced-per-key'),
    },
  ],
]);

describe('a store', () => {
  for (const [what, { asks, minus }] of sequences) {
    test(`refuses ${what} if it is ${minus.join(', ')}, and no other does`, () => {
      for (const name of stores.keys()) {
        expect(`${name} ${pattern(name, asks)}`).toBe(
          `${name} +${minus.includes(name) ? '-' : '+'}`,
        );
      }
    });
  }

  test('differs from every other in these, except in announcements and client-side checks', () => {
    const prints = new Map(
      [...stores.keys()].map((name) => [
        name,
        [...sequences.values()].map(({ asks }) => pattern(name, asks)).join(' '),
      ]),
    );
    const alike = [
      ['fenced-open', 'fenced-reads'],
      ['unique-token', 'fence-equality'],
      ['highest-not-updated', 'unfenced'],
      ['client-side-fence', 'unfenced'],
      ['drops-writes', 'fenced'],
    ] as const;
    for (const [one, other] of alike) expect(prints.get(one)).toBe(prints.get(other));
    expect(new Set(prints.values()).size).toBe(stores.size - alike.length);
    const wanting = all.filter((name) => stores.get(name)?.needsOpen);
    expect(wanting).toEqual(['fenced-open', 'unique-token']);
  });

  test('of unique tokens accepts the last announced one, even a lower one', () => {
    const store = storeOf('unique-token');
    answer(store, ask('open', 2));
    expect(answer(store, ask('write', 1))).toEqual({ kind: 'refused', highest: 2 });
    expect(answer(store, ask('open', 1))).toEqual({ kind: 'accepted' });
    expect(answer(store, ask('write', 2))).toEqual({ kind: 'refused', highest: 1 });
    expect(answer(store, ask('write', 1))).toEqual({ kind: 'accepted' });
  });

  test('that leaves the comparison to its client knows the highest token, and accepts any', () => {
    const store = storeOf('client-side-fence');
    answer(store, ask('write', 2));
    answer(store, ask('write', 1));
    expect(store.contents('db')).toEqual({ highest: 2, values: new Map([['x', 1]]) });
  });

  test('refuses earlier tokens once a later one is announced', () => {
    const store = storeOf('fenced-open');
    expect(answer(store, ask('open', 2))).toEqual({ kind: 'accepted' });
    expect(answer(store, ask('write', 1))).toEqual({ kind: 'refused', highest: 2 });
    expect(answer(store, ask('open', 1))).toEqual({ kind: 'refused', highest: 2 });
    expect(answer(store, ask('write', 2))).toEqual({ kind: 'accepted' });
  });

  test('that is fenced accepts a token if and only if it is not below its highest', () => {
    const access = fc.record({
      resource: fc.constantFrom('db', 'log'),
      key: fc.constantFrom('x', 'y'),
      token: fc.nat(6),
      sequence: fc.nat(3),
    });
    fc.assert(
      fc.property(fc.array(access, { maxLength: 50 }), (accesses) => {
        const store = storeOf('fenced');
        const highest = new Map<string, number>();
        const values = new Map<string, number>();
        for (const [at, one] of accesses.entries()) {
          const known = highest.get(one.resource) ?? 0;
          expect(store.highest(one)).toBe(known);
          const isAccepted = one.token >= known;
          expect(store.write(one, at)).toEqual(
            isAccepted ? { kind: 'accepted' } : { kind: 'refused', highest: known },
          );
          if (!isAccepted) continue;
          highest.set(one.resource, one.token);
          values.set(`${one.resource}/${one.key}`, at);
          const value = values.get(`${one.resource}/${one.key}`) ?? 0;
          expect(store.read(one)).toEqual({ kind: 'value', value });
        }
      }),
    );
  });

  test('keeps its resources separate, whatever their names and keys', () => {
    const store = storeOf('fenced-per-key');
    store.write({ resource: 'a/b', key: 'c', token: 5, sequence: 1 }, 1);
    expect(store.write({ resource: 'a', key: 'b/c', token: 1, sequence: 1 }, 2)).toEqual({
      kind: 'accepted',
    });
  });

  test('starts with the value 0 everywhere', () => {
    const store = storeOf('fenced');
    expect(answer(store, ask('read', 0))).toEqual({ kind: 'value', value: 0 });
    expect(store.contents('db')).toEqual({ highest: 0, values: new Map() });
  });

  test('keeps its values in a crash, and forgets one key on request', () => {
    const store = storeOf('fenced-volatile');
    answer(store, ask('write', 3));
    answer(store, ask('write', 4, { key: 'y' }));
    store.crash();
    expect(store.contents('db')).toEqual({
      highest: 0,
      values: new Map([
        ['x', 3],
        ['y', 4],
      ]),
    });
    expect([store.forget('x'), store.forget('x')]).toEqual([['db'], []]);
    expect(answer(store, ask('read', 5))).toEqual({ kind: 'value', value: 0 });
    expect(answer(store, ask('read', 5, { key: 'y' }))).toEqual({ kind: 'value', value: 4 });
  });

  test('restores a snapshot unchanged, any number of times', () => {
    const store = storeOf('fenced');
    answer(store, ask('write', 3));
    const restore = store.snapshot();
    for (const token of [7, 8]) {
      answer(store, ask('write', token));
      restore();
      expect(store.contents('db')).toEqual({ highest: 3, values: new Map([['x', 3]]) });
    }
  });

  test('knows the highest token even if it was only announced', () => {
    const store = storeOf('fenced-open');
    answer(store, ask('open', 4));
    expect(store.contents('db')).toEqual({ highest: 4, values: new Map() });
  });
});
