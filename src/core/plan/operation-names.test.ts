import { describe, expect, test } from 'vitest';
import {
  isLockServer,
  isReserved,
  isTimer,
  type PlacedSection,
  sectionPointsOf,
  storesAccessed,
  timersOf,
} from './operation-names.ts';
import { CLIENT_DEFAULTS, type ClientPlan, type Work } from './plan.ts';

const write: Work = { kind: 'write', id: 1, store: 'a', key: 'x', value: 1, awaits: true };
const read: Work = { kind: 'read', id: 2, store: 'b', key: 'x' };
const memoize: Extract<Work, { kind: 'memoize' }> = {
  kind: 'memoize',
  id: 1,
  store: 'a',
  key: 'x',
  value: 1,
  forUs: 5,
  pieces: 1,
};

function placed(
  work: readonly Work[],
  more: Partial<ClientPlan> & Partial<Pick<PlacedSection, 'store' | 'operations'>> = {},
): PlacedSection {
  const { store = 'fenced', operations, ...settings } = more;
  const section = { id: 3, thinkUs: 0, lock: 'db', work };
  const client = { ...CLIENT_DEFAULTS, name: 'alice', sections: [section], ...settings };
  return { client, section, store, ...(operations === undefined ? {} : { operations }) };
}

/** Renders points as `verb:point`, or `point` if both are equal, without the section's name. */
function points(...parts: Parameters<typeof placed>): string {
  return sectionPointsOf(placed(...parts))
    .map(({ verb, point }) => {
      const part = point.replace('alice/3/', '');
      return part === verb ? part : `${verb}:${part}`;
    })
    .join(' ');
}

describe('a section passes the points', () => {
  test.each([
    ['of its lock alone', [], {}, 'acquire release'],
    ['of a client that never releases', [], { releases: false }, 'acquire'],
    ['of the operations of asynchronous code', [], { operations: ['SET', 'DEL'] }, 'SET DEL'],
    ['of a write, with its test', [write], {}, 'write acquire release checked'],
    ['of a write without a test', [write], { checksLease: false }, 'write acquire release'],
    ['of a read, without a test', [read], {}, 'read:read-2 acquire release'],
    [
      'of an increment',
      [{ kind: 'increment', id: 1, store: 'a', key: 'x' }],
      {},
      'read write acquire release checked',
    ],
    [
      'of a transfer',
      [{ kind: 'transfer', id: 2, from: 'a', to: 'b', key: 'x', amount: 1 }],
      {},
      'read:read-from-2 read:read-to-2 write:write-from-2 write:write-to-2 acquire release checked',
    ],
    ['of a time of work and a job', [{ kind: 'compute', id: 1, forUs: 5 }], {}, 'acquire release'],
    ['of a job', [{ kind: 'job', id: 1, tick: 1, retries: 0, forUs: 5 }], {}, 'acquire release'],
    ['of a renew', [{ kind: 'renew', id: 2, ttlUs: 5 }], {}, 'renew:renew-2 acquire release'],
    [
      'of a second lock',
      [{ kind: 'lock', id: 1, lock: 'b' }],
      {},
      'acquire:lock release:unlock acquire release',
    ],
    [
      'of a second lock that is never released',
      [{ kind: 'lock', id: 1, lock: 'b' }],
      { releases: false },
      'acquire:lock acquire',
    ],
    [
      'of a message',
      [{ kind: 'transition', id: 2, forUs: 5 }],
      {},
      'receive next delete acquire release',
    ],
    ['of a memoize', [memoize], {}, 'read write read:read-again acquire release'],
    [
      'of a memoize in pieces',
      [{ ...memoize, id: 2, pieces: 2 }],
      {},
      'read:read-2 write:write-2 read:read-2-again write:write-piece-2 write:write-piece-2-2 ' +
        'renew renew:renew-2 acquire release',
    ],
    [
      'of a store that is opened once per access',
      [write, read, { ...read, id: 3 }],
      { store: 'fenced-open' },
      'write read:read-2 read:read-3 acquire release checked open open:open-2',
    ],
    ['of unique tokens', [read], { store: 'unique-token' }, 'read:read-2 acquire release open'],
    [
      'of a fence that the client reads before each write',
      [write, { ...write, id: 2 }, { ...read, id: 3 }],
      { store: 'client-side-fence' },
      'write write:write-2 read:read-3 acquire release checked fence fence:fence-2',
    ],
  ] as const)('%s', (_, work, more, expected) => {
    expect(points(work, more)).toBe(expected);
  });
});

test('the timers of a section are those of its steps that take time', () => {
  const timed: readonly Work[] = [
    write,
    { kind: 'compute', id: 2, forUs: 5 },
    { kind: 'job', id: 1, tick: 1, retries: 0, forUs: 5 },
    { kind: 'transition', id: 3, forUs: 5 },
    { ...memoize, id: 4, pieces: 2 },
    { kind: 'renew', id: 5, ttlUs: 5 },
  ];
  expect(timersOf(placed(timed))).toEqual(
    ['compute-2', 'job', 'job-3', 'compute-4', 'compute-2-4'].map((label) => `alice/3/${label}`),
  );
});

test('a step accesses its store, a transfer both of its stores, and a compute step none', () => {
  const transfer = { kind: 'transfer', id: 2, from: 'a', to: 'b', key: 'x', amount: 1 } as const;
  const compute = { kind: 'compute', id: 1, forUs: 5 } as const;
  expect([write, transfer, compute].map(storesAccessed)).toEqual([['a'], ['a', 'b'], []]);
});

test.each([
  ['probe', true, false],
  ['lock', true, true],
  ['lock-1', true, true],
  ['locks', false, false],
  ['my-lock-1', false, false],
  ['alice', false, false],
])('the name %s is reserved: %s, of a lock: %s', (name, reserved, ofLock) => {
  expect([isReserved(name), isLockServer(name)]).toEqual([reserved, ofLock]);
});

test.each([
  ['alice/timeout-30ms', true],
  ['alice/1/release-timer', true],
  ['alice/1/write/1/request', false],
  ['alice/1/write/1/reply', false],
  ['alice/timers', false],
  ['lock/timeout-30ms', false],
  ['alice', false],
  ['alices', false],
  ['/alice', false],
])('the name %s names a timer of a client: %s', (name, isDue) => {
  expect(isTimer(name, new Set(['alice']))).toBe(isDue);
});
