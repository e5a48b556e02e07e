import { describe, expect, test } from 'vitest';
import { write } from '../check/trace-builder.fixture.ts';
import type {
  Grant,
  Refusal,
  Release,
  Renew,
  TraceEvent,
  Write,
  WriteVersion,
} from '../core/history/events.ts';
import {
  changeText,
  denialReason,
  flagText,
  lockCallName,
  refusalReason,
} from './state-phrases.ts';

const MADE_IN_2024 = 1_704_067_200_000;

function refused(more: Partial<Write>): Write {
  return { ...write(15, 'alice', 1, 7), isAccepted: false, highest: 0, ...more };
}

function versioned(version: WriteVersion): Write {
  return refused({ token: 0, version, refusal: { kind: 'version' } });
}

describe('the reason of a refusal', () => {
  const ofTokens: readonly (readonly [string, Partial<Write>, string])[] = [
    ['fenced', { highest: 32 }, 'highest seen 32'],
    ['fenced-strict', { highest: 1, refusal: { kind: 'equal' } }, 'seen before'],
    [
      'fenced-sequenced',
      { highest: 1, issue: 2, refusal: { kind: 'order', last: 3 } },
      'access 2 of its section, after access 3',
    ],
    ['unique-token', { highest: 2, refusal: { kind: 'other' } }, 'only 2 is accepted'],
    [
      'fence-inverted',
      { token: 2, highest: 1, refusal: { kind: 'higher' } },
      'no token above 1 is accepted',
    ],
    ['check-sequencer', { refusal: { kind: 'lease' } }, 'the lock service does not know its lease'],
  ];

  test.each(ofTokens)('%s', (_, more, words) => {
    expect(refusalReason(refused(more))).toBe(words);
  });

  const ofVersions: readonly (readonly [WriteVersion, string])[] = [
    [{ by: 'version', expected: 5, found: 6, given: 6 }, 'expects version 5, has 6 (0 rows)'],
    [
      { by: 'version', expected: null, found: 1, given: 1 },
      'expects no row, has version 1 (0 rows)',
    ],
    [
      { by: 'version', expected: 1, found: null, given: null },
      'expects version 1, has no row (0 rows)',
    ],
    [
      { by: 'timestamp', expected: 3, found: 4, given: 4 },
      'expects a change of 3 ms, has one of 4 ms (0 rows)',
    ],
    [
      {
        by: 'timestamp',
        epochMs: MADE_IN_2024,
        given: null,
        expected: MADE_IN_2024 - 3,
        found: MADE_IN_2024 + 4,
      },
      'expects a change of −3 ms, has one of 4 ms (0 rows)',
    ],
  ];

  test.each(ofVersions)('by versions: %o', (version, words) => {
    expect(refusalReason(versioned(version))).toBe(words);
  });

  test('by a CHECK', () => {
    const refusal: Refusal = { kind: 'check', rule: 'stock >= 0' };
    expect(refusalReason(refused({ refusal }))).toBe('CHECK (stock >= 0) forbids it');
  });
});

test('a change of version shows the old and the new one', () => {
  const write = {
    ...versioned({ by: 'version', expected: 5, found: 5, given: 6 }),
    isAccepted: true,
  };
  expect(changeText(write)).toBe('version 5 → 6');
});

describe('a flag shows', () => {
  const dated: WriteVersion = {
    by: 'timestamp',
    epochMs: MADE_IN_2024,
    found: null,
    given: MADE_IN_2024 + 12,
    expected: null,
  };
  const counted = { by: 'version', expected: 5, found: 6, given: 6 } as const;
  test.each([
    ['the token', refused({ token: 31 }), '31'],
    ['the expected version of a refused write', versioned(counted), '5'],
    ['the version that was written', { ...versioned(counted), isAccepted: true }, '6'],
    ['the milliseconds since the run began', { ...versioned(dated), isAccepted: true }, '12'],
    ['nothing without a token and a version', refused({ token: 0 }), ''],
  ])('%s', (_, event, text) => {
    expect(flagText(event)).toBe(text);
  });
});

describe('the reason of a denied renew or release if', () => {
  const at = { process: 'lock', lock: 'db', message: '' } as const;
  const given = (client: string, ordinal: number, [fromMs, untilMs]: [number, number]): Grant => ({
    kind: 'grant',
    ...at,
    client,
    ordinal,
    token: ordinal + 30,
    ttlUs: 10_000,
    atUs: fromMs * 1000,
    sentAtUs: fromMs * 1000,
    untilUs: untilMs * 1000,
  });
  const releaseAt = (ms: number, client: string, under: number, released = 0): Release => ({
    kind: 'release',
    ...at,
    atUs: ms * 1000,
    client,
    under,
    released,
  });
  const renewAt = (ms: number, client: string, under: number, extended = 0): Renew => ({
    kind: 'renew',
    ...at,
    atUs: ms * 1000,
    client,
    under,
    extended,
    token: 0,
    ttlUs: 10_000,
    sentAtUs: ms * 1000,
    untilUs: (ms + 10) * 1000,
  });
  const alices = given('alice', 1, [0, 10]);
  const bobs = given('bob', 2, [12, 22]);
  const crash: TraceEvent = {
    kind: 'fault',
    atUs: 1,
    fault: 'crash',
    index: 0,
    processes: ['lock'],
    untilUs: null,
    target: '',
    amount: 0,
  };

  test.each<[string, readonly TraceEvent[], Release | Renew, string]>([
    ['another client has it', [alices, bobs], releaseAt(15, 'alice', 1), 'bob holds it, token 32'],
    [
      'another client had it',
      [alices, bobs],
      renewAt(22, 'alice', 1),
      'bob had it last, until 22 ms',
    ],
    ['it is over', [bobs], renewAt(23, 'bob', 2), 'its lease ended at 22 ms'],
    ['it is live', [bobs], renewAt(21, 'bob', 2), ''],
    [
      'it was renewed',
      [bobs, renewAt(20, 'bob', 2, 2)],
      renewAt(30, 'bob', 2),
      'its lease ended at 30 ms',
    ],
    [
      'it is another grant',
      [alices, given('alice', 2, [5, 15])],
      releaseAt(6, 'alice', 1),
      'it names token 31, its lease has 32',
    ],
    [
      'it was released',
      [bobs, releaseAt(14, 'bob', 2, 2)],
      releaseAt(15, 'bob', 2),
      'bob released it at 14 ms',
    ],
    ['no client was granted it', [], releaseAt(1, 'bob', 0), ''],
    ['the server has crashed', [bobs, crash], renewAt(23, 'bob', 2), ''],
  ])('%s', (_, before, event, words) => {
    expect(denialReason(event, [...before, event, given('carol', 9, [40, 50])])).toBe(words);
  });
});

test('a call to a lock has the name that its program gives it', () => {
  expect(lockCallName('alice/1/release', 'release')).toBe('release');
  expect(lockCallName('alice/1/acquire-2', 'acquire')).toBe('acquire');
  expect(lockCallName('alice/2/del-3', 'release')).toBe('`del`');
  expect(lockCallName('alice/2/acquire-2/1', 'acquire')).toBe('acquire');
  expect(lockCallName('bare', 'release')).toBe('release');
});
