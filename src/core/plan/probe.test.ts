import { expect, test } from 'vitest';
import { client } from '../shrink/sample-plan.fixture.ts';
import type { ClientPlan, Work } from './plan.ts';
import { locksProbedByWriting, probeSections } from './probe.ts';

const place = { store: 's', key: 'x' } as const;
const compute: Work = { kind: 'compute', id: 1, forUs: 5 };
const readsThenWrites: readonly Work[] = [
  { kind: 'read', id: 1, ...place },
  { kind: 'write', id: 1, ...place, value: 1_000_000_000, awaits: true },
];

/** Returns a client whose sections do `work` under `locks`. */
function under(locks: readonly string[], ...work: readonly Work[]): ClientPlan {
  const alice = client('alice', 7);
  const [section] = alice.sections;
  if (section === undefined) throw new Error('the sample has sections');
  return { ...alice, sections: locks.map((lock, at) => ({ ...section, id: at + 3, lock, work })) };
}

test.each<[string, readonly Work[], readonly Work[]]>([
  [
    'a write, after a read',
    [{ kind: 'write', id: 4, ...place, value: 9, awaits: false }],
    readsThenWrites,
  ],
  ['a write for a read', [compute, { kind: 'read', id: 2, ...place }], readsThenWrites],
  [
    'a write for a memoize',
    [{ kind: 'memoize', id: 2, ...place, value: 1, forUs: 5, pieces: 1 }],
    readsThenWrites,
  ],
  [
    'an increment, by 1',
    [{ kind: 'increment', id: 4, ...place, by: -3 }],
    [{ kind: 'increment', id: 1, ...place }],
  ],
  [
    'a transfer',
    [{ kind: 'transfer', id: 4, from: 'a', to: 'b', key: 'x', amount: 3 }],
    [{ kind: 'transfer', id: 1, from: 'a', to: 'b', key: 'x', amount: 3 }],
  ],
  ['nothing of a section that accesses no store', [compute], []],
])('the probe does %s', (_, work, probed) => {
  const sections = probeSections({ clients: [under(['db'], ...work)] });
  expect(sections).toStrictEqual([{ id: 1, thinkUs: 0, lock: 'db', work: probed }]);
});

test('the probe takes each lock once, for the first work that it guards', () => {
  const read: Work = { kind: 'read', id: 1, ...place };
  const clients = [under(['a', 'b', 'a'], compute), under(['b', 'c'], read)];
  const sections = probeSections({ clients });
  expect(sections.map(({ id, lock }) => [id, lock])).toEqual([
    [1, 'a'],
    [2, 'b'],
    [3, 'c'],
  ]);
  expect([...locksProbedByWriting({ clients })]).toEqual(['c']);
});
