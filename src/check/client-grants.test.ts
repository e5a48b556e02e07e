/** Tests locks whose grants only the client notes: the order of the grants, and the words. */
import { describe, expect, test } from 'vitest';
import type { Grant, KeyChange, TraceEvent } from '../core/history/events.ts';
import { takingUnder } from './lock-keys.ts';
import {
  breachOf,
  enter,
  grant,
  keyChange,
  leaseTest,
  pause,
  traceOf,
  verdictOn,
} from './trace-builder.fixture.ts';
import { indexTrace } from './trace-index.ts';

type More = Partial<Omit<Grant, 'kind' | 'atUs'>>;

/** `client` enters its section `ordinal` through a guard. */
function guard(
  ms: number,
  client: string,
  ordinal: number,
  more: More = {},
): readonly TraceEvent[] {
  const clientGrant = grant(ms, client, ordinal, { process: client, message: '', ...more });
  return [clientGrant, enter(ms, client, ordinal, ms + 10)];
}

/** It takes `db` in that section. */
function takes(
  ms: number,
  client: string,
  section: number,
  more: Parameters<typeof keyChange>[2] = {},
): KeyChange {
  return keyChange(ms, client, { message: `${client}/${section}/eval/1/request`, ...more });
}

/** Carol takes the key first and enters last; `his` is the token of bob, `hers` that of carol. */
const late = (his: number, hers: number): readonly TraceEvent[] => [
  takes(3, 'carol', 2),
  pause(4, 'carol', 26),
  takes(24, 'bob', 1),
  ...guard(25, 'bob', 1, { token: his }),
  ...guard(26, 'carol', 2, { token: hers }),
];

/** Two guards of one section that took the key once. */
const twice: readonly TraceEvent[] = [
  takes(1, 'alice', 1),
  ...guard(2, 'alice', 1),
  grant(3, 'alice', 2, { process: 'alice', message: '', token: 1 }),
  { ...enter(3, 'alice', 2, 13), section: 'alice/1' },
];

describe('tokens', () => {
  test('increase in the order in which the key was taken, whichever client enters first', () => {
    const verdict = verdictOn('tokens-increase', late(2, 1));
    expect(verdict).toMatchObject({ kind: 'valid', exercised: 1 });
  });

  test('that do not follow the order in which the key was taken break the claim', () => {
    const breach = breachOf('tokens-increase', late(1, 2));
    expect(breach.rule).toBe('token-not-higher');
    expect(breach.evidence).toEqual([
      '0 earlier taking',
      '1 pause',
      '2 later taking',
      '3 later grant',
      '5 earlier grant',
    ]);
    expect(breach.words).toMatchInlineSnapshot(
      `"Token did not increase for \`db\`. Let A be bob's grant 1 of \`db\` (from 25 ms, ttl 10 ms) and B be carol's grant 2 (its key taken at 3 ms, entered at 26 ms), although it had ended at 13 ms. Then carol took \`db\` at 3 ms and entered under B, and bob took it at 24 ms and entered under A. However, the token of A is 1, not above that of B, 2: carol was paused from 4 ms to 26 ms."`,
    );
  });

  test('of a grant whose lease was over at its entry are described without a ttl', () => {
    const none = { ttlUs: 0 };
    const over = [
      takes(3, 'carol', 2),
      takes(24, 'bob', 1),
      ...guard(25, 'bob', 1, { token: 1, ...none }),
      ...guard(26, 'carol', 2, { token: 2, ...none }),
    ];
    expect(breachOf('tokens-increase', over).words).not.toContain('ttl');
  });

  test('that two grants share are described in the order in which the key was taken', () => {
    expect(verdictOn('tokens-unique', late(2, 1)).kind).toBe('valid');
    expect(breachOf('tokens-unique', late(1, 1)).words).toMatchInlineSnapshot(
      `"Token issued twice for \`db\`. Let A be bob's grant 1 of \`db\` (from 25 ms, ttl 10 ms) and B be carol's grant 2 (token 1, its key taken at 3 ms, entered at 26 ms), although it had ended at 13 ms. Then carol took \`db\` at 3 ms and entered under B, and bob took it at 24 ms and entered under A. However, the token of A is 1, the same as that of B, 1: carol was paused from 4 ms to 26 ms."`,
    );
  });

  test('are not compared if the taking of one is unknown', () => {
    const oneUnknown = late(2, 1).filter((_, at) => at !== 2);
    for (const events of [oneUnknown, oneUnknown.slice(1)]) {
      expect(verdictOn('tokens-increase', events)).toMatchObject({ kind: 'valid', exercised: 0 });
    }
  });

  test('of two keys are compared in the order in which the keys were taken', () => {
    const [first, ...others] = late(2, 1);
    expect(first).toMatchObject({ kind: 'key-change' });
    const sharded = { ...takes(3, 'carol', 2), key: 'lock:db' };
    const verdict = verdictOn('tokens-increase', [sharded, ...others]);
    expect(verdict).toMatchObject({ kind: 'valid', exercised: 1 });
  });

  test('of two guards are not compared if only one of them has a taking', () => {
    const verdict = verdictOn('tokens-increase', twice);
    expect(verdict).toMatchObject({ kind: 'valid', exercised: 0 });
  });
});

/** Returns the taking under the only grant. */
function takingOf(events: readonly TraceEvent[]): ReturnType<typeof takingUnder> {
  const indexed = indexTrace(traceOf(events));
  const [only = expect.fail('there is no grant')] = indexed.locks.get('db')?.grants ?? [];
  return takingUnder(only);
}

describe('the taking under a grant', () => {
  const [enteredGrant, entry] = guard(9, 'alice', 1);
  const under = (...events: readonly TraceEvent[]): KeyChange | null => {
    if (enteredGrant === undefined || entry === undefined) throw new Error('there is no grant');
    return takingOf([...events, enteredGrant, entry])?.event ?? null;
  };
  const first = takes(1, 'alice', 1);

  test('is the last one by its client in its section', () => {
    const again = takes(5, 'alice', 1);
    expect(under(first)).toBe(first);
    expect(under(first, again)).toBe(again);
    expect(under(first, takes(5, 'alice', 2))).toBe(first);
    expect(under(first, takes(5, 'bob', 1))).toBe(first);
  });

  test('is of a key that contains the name of the lock or is declared as a lock', () => {
    const other = takes(5, 'alice', 1, { key: 'job:7', isNamed: false });
    expect(under(first, other)).toBe(first);
    expect(under({ ...other, isNamed: true })).toMatchObject({ key: 'job:7' });
    expect(under({ ...other, key: 'lock:db' })).toMatchObject({ key: 'lock:db' });
    expect(under({ ...other, key: 'db:token' })).toBeNull();
  });

  test('is a successful taking, not another change', () => {
    expect(under({ ...first, isDone: false })).toBeNull();
    expect(under({ ...first, change: 'prolonged' })).toBeNull();
  });

  test('is unknown if there are several servers or keys', () => {
    expect(under(first, takes(2, 'alice', 1, { process: 'lock-2' }))).toBeNull();
    expect(under(first, takes(2, 'alice', 1, { key: 'lock:db' }))).toBeNull();
  });

  test('is unknown if a server or a quorum granted the lock', () => {
    for (const more of [{ process: 'lock' }, { sentAtUs: 8000 }]) {
      const [given, then] = guard(9, 'alice', 1, more);
      if (given === undefined || then === undefined) throw new Error('there is no grant');
      expect(takingOf([first, given, then])).toBeNull();
    }
  });

  test('orders the grants; of two grants with one taking, the first has it', () => {
    const order = (...events: readonly TraceEvent[]): readonly number[] => {
      const indexed = indexTrace(traceOf(events));
      const grants = indexed.locks.get('db')?.grants ?? [];
      const places = grants.map(({ order, event }) => [order(event.ordinal), event.ordinal]);
      return places.sort(([one = 0], [other = 0]) => one - other).map(([, ordinal = 0]) => ordinal);
    };
    expect(order(...late(1, 2))).toEqual([2, 1]);
    expect(order(...late(1, 2).slice(1))).toEqual([1, 2]);
    expect(order(...twice)).toEqual([1, 2]);
  });
});

describe('explanations', () => {
  test('state when a client that enters beside another acquired the key', () => {
    const removed = keyChange(3, 'alice', { change: 'removed', holder: 'bob', untilUs: null });
    const events = [
      takes(1, 'bob', 1),
      ...guard(2, 'bob', 1),
      removed,
      takes(4, 'carol', 2),
      ...guard(5, 'carol', 2),
    ];
    expect(breachOf('mutual-exclusion', events).words).toMatchInlineSnapshot(
      `"carol entered \`db\` while bob held it. Let A be bob's grant 1 of \`db\` (from 2 ms, ttl 10 ms) and B be carol's grant 2 (from 5 ms). Then carol, who took \`db\` at 4 ms, entered under B at 5 ms. However, A was live (bob counted on it until 12 ms), and alice had removed \`db\` at 3 ms: the lock let carol in while bob was inside, and no fault was needed."`,
    );
  });

  test('do not blame a client that only enters late', () => {
    expect(verdictOn('mutual-exclusion', late(2, 1)).kind).toBe('valid');
    const inTime = [...guard(1, 'bob', 1), takes(12, 'carol', 2), ...guard(13, 'carol', 2)];
    expect(verdictOn('mutual-exclusion', inTime).kind).toBe('valid');
  });

  test('describe acquisitions only as far as the trace shows', () => {
    const events = [...guard(1, 'bob', 1), ...guard(2, 'carol', 2)];
    expect(breachOf('mutual-exclusion', events).words).toMatchInlineSnapshot(
      `"carol entered \`db\` while bob held it. Let A be bob's grant 1 of \`db\` (from 1 ms, ttl 10 ms) and B be carol's grant 2 (from 2 ms). Then carol entered under B at 2 ms. However, A was live (bob counted on it until 11 ms): the lock let carol in while bob was inside, and no fault was needed."`,
    );
  });

  test('blame the clock of a client that relied on its lease for less than its ttl', () => {
    const events = [...guard(1, 'bob', 1, { untilUs: 2000 }), ...guard(3, 'carol', 2)];
    expect(breachOf('mutual-exclusion', events).words).toMatchInlineSnapshot(
      `"carol entered \`db\` before bob's ttl was over. Let A be bob's grant 1 of \`db\` (from 1 ms, ttl 10 ms) and B be carol's grant 2 (from 3 ms). Then carol entered under B at 3 ms. However, bob's clock had ended A too early, at 2 ms (bob counted on it until 11 ms): the lock let carol in while bob was inside, and no fault was needed."`,
    );
  });

  test('name the client that entered while a holder relied on its lease for too long', () => {
    const events = [
      ...guard(1, 'bob', 1),
      takes(4, 'carol', 2, { untilUs: 15_000 }),
      ...guard(5, 'carol', 2),
      leaseTest(6, 'bob', 1, 11),
    ];
    expect(breachOf('lease-conservative', events).words).toMatchInlineSnapshot(
      `"bob counts on \`db\` longer than its server does. Let A be bob's grant 1 of \`db\` (from 1 ms, ttl 10 ms) and B be carol's grant 2 (from 5 ms). Then its server ends A at 11 ms, and carol, who took \`db\` at 4 ms, entered under B at 5 ms. However, bob found at 6 ms that its lease was live: the lock let carol in while bob was inside, and no fault was needed."`,
    );
    const inTime = [...guard(1, 'bob', 1), leaseTest(6, 'bob', 1, 11)];
    expect(verdictOn('lease-conservative', inTime).kind).toBe('valid');
  });
});
