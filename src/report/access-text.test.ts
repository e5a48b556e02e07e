import { describe, expect, test } from 'vitest';
import { write } from '../check/trace-builder.fixture.ts';
import type { Refusal, Write, WriteVersion } from '../history/server-events.ts';
import { changeText, flagText, whyRefused } from './access-text.ts';

const MADE_IN_2024 = 1_704_067_200_000;

function refused(more: Partial<Write>): Write {
  return { ...write(15, 'alice', 1, 7), isAccepted: false, highest: 0, ...more };
}

function versioned(version: WriteVersion): Write {
  return refused({ token: 0, version, refusal: { kind: 'version' } });
}

describe('why a store refused', () => {
  const ofTokens: readonly (readonly [string, Partial<Write>, string])[] = [
    ['fenced', { highest: 32 }, 'has seen 32'],
    ['fenced-strict', { highest: 1, refusal: { kind: 'equal' } }, 'has seen 1 already'],
    [
      'fenced-sequenced',
      { highest: 1, issue: 2, refusal: { kind: 'order', last: 3 } },
      'access 2 of its section, has seen access 3',
    ],
    ['unique-token', { highest: 2, refusal: { kind: 'other' } }, 'takes none but 2'],
    ['fence-inverted', { token: 2, highest: 1, refusal: { kind: 'higher' } }, 'takes none above 1'],
    ['check-sequencer', { refusal: { kind: 'lease' } }, 'the lock service knows no such lease'],
  ];

  test.each(ofTokens)('%s', (_, more, words) => {
    expect(whyRefused(refused(more))).toBe(words);
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
        ...{ by: 'timestamp', epochMs: MADE_IN_2024, given: null },
        ...{ expected: MADE_IN_2024 - 3, found: MADE_IN_2024 + 4 },
      },
      'expects a change of −3 ms, has one of 4 ms (0 rows)',
    ],
  ];

  test.each(ofVersions)('by versions: %o', (version, words) => {
    expect(whyRefused(versioned(version))).toBe(words);
  });

  test('nothing is left to take', () => {
    const refusal: Refusal = { kind: 'check', rule: 'stock >= 0' };
    expect(whyRefused(refused({ refusal }))).toBe('CHECK (stock >= 0) forbids it');
  });
});

test('the change of a version is said as it was and as it is', () => {
  const write = {
    ...versioned({ by: 'version', expected: 5, found: 5, given: 6 }),
    isAccepted: true,
  };
  expect(changeText(write)).toBe('version 5 → 6');
});

describe('a flag shows', () => {
  const dated: WriteVersion = {
    ...{ by: 'timestamp', epochMs: MADE_IN_2024, found: null },
    ...{ given: MADE_IN_2024 + 12, expected: null },
  };
  const counted = { by: 'version', expected: 5, found: 6, given: 6 } as const;
  test.each([
    ['the token', refused({ token: 31 }), '31'],
    ['the version that was expected in vain', versioned(counted), '5'],
    ['the version that was made', { ...versioned(counted), isAccepted: true }, '6'],
    ['the milliseconds since the run began', { ...versioned(dated), isAccepted: true }, '12'],
    ['nothing where there is neither', refused({ token: 0 }), ''],
  ])('%s', (_, event, text) => {
    expect(flagText(event)).toBe(text);
  });
});
