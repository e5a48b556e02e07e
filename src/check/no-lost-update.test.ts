import { expect, test } from 'vitest';
import type { TraceEvent, Write } from '../core/history/events.ts';
import {
  accepted,
  answer,
  breachOf,
  grant,
  invoke,
  pause,
  read,
  recovered,
  unknown,
  verdictOn,
  write,
} from './trace-builder.fixture.ts';

const adding = { issue: 2, adds: 1 };

/** Bob reads between Alice's read and the arrival of her write. */
function interleaved(bobReads: number, aliceIsAccepted: boolean): readonly TraceEvent[] {
  return [
    grant(0, 'alice', 1),
    read(1, 'alice', 1, 0),
    invoke(9, 'alice/1/write', { value: 1, adds: 1 }),
    grant(11, 'bob', 2),
    read(12, 'bob', 2, bobReads),
    write(14, 'alice', 1, 1, { ...adding, isAccepted: aliceIsAccepted }),
    answer(
      15,
      'alice/1/write',
      aliceIsAccepted ? { kind: 'accepted' } : { kind: 'refused', highest: 2 },
    ),
    invoke(15, 'bob/2/write', { value: bobReads + 1, adds: 1 }),
    write(16, 'bob', 2, bobReads + 1, adding),
    accepted(17, 'bob/2/write'),
  ];
}

test('an increment that is refused because another client has read since is not lost', () => {
  expect(verdictOn('no-lost-update', interleaved(0, false))).toMatchObject({
    kind: 'valid',
    exercised: 2,
  });
});

test('two acknowledged increments of the same value lose one', () => {
  const breach = breachOf('no-lost-update', interleaved(0, true));
  expect(breach.rule).toBe('update-lost');
  expect(breach.evidence).toEqual([
    '0 earlier grant',
    '1 other read',
    '3 later grant',
    '4 read',
    '5 lost write',
    '8 overwriting write',
  ]);
  expect(breach.words).toMatchInlineSnapshot(
    `"Acknowledged increment lost in \`store\`. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms) and B be bob's grant 2 (from 11 ms). Then bob read 0 from \`x\` with token 2 at 12 ms, and bob wrote 1 to \`x\` with token 2 at 16 ms. However, alice's write of 1 to \`x\`, sent with token 1 at 9 ms, arrived at 14 ms, between that read and that write, so that increment is gone."`,
  );
});

test('an increment without an answer may or may not count', () => {
  const events = interleaved(0, true).map((event) =>
    event.kind === 'return' && event.process === 'alice' ? unknown(15, 'alice/1/write') : event,
  );
  expect(verdictOn('no-lost-update', events)).toMatchObject({ kind: 'valid', exercised: 2 });
});

test('a counter that holds more than was ever added breaks the claim', () => {
  const breach = breachOf('no-lost-update', interleaved(4, true));
  expect(breach.rule).toBe('update-invented');
  expect(breach.words).toMatchInlineSnapshot(
    `"Value in \`store\` exceeds the sum of all increments. Let A be bob's grant 2 of \`db\` (from 11 ms, ttl 10 ms). Then bob wrote 5 to \`x\` with token 2 at 16 ms. However, no subset of the attempted increments adds up to 5."`,
  );
});

/** Alice writes twice for one increment: the first write got no answer. */
function repeated(isAppliedTwice: boolean): readonly TraceEvent[] {
  const again = { value: 2, adds: 1, repeats: 'alice/1/write' } as const;
  const second = { operation: 'alice/1/write-again', issue: 4, adds: 1 };
  return [
    read(1, 'alice', 0, 0, { operation: 'alice/1/read' }),
    invoke(2, 'alice/1/write', { value: 1, adds: 1 }),
    write(3, 'alice', 0, 1, { ...adding, operation: 'alice/1/write' }),
    unknown(9, 'alice/1/write'),
    read(10, 'alice', 0, 1, { issue: 3, operation: 'alice/1/read-again' }),
    invoke(11, 'alice/1/write-again', again),
    ...(isAppliedTwice ? [write(12, 'alice', 0, 2, second)] : []),
    accepted(13, 'alice/1/write-again'),
  ];
}

test('an increment that is retried under one key counts once', () => {
  expect(verdictOn('no-lost-update', repeated(false)).kind).toBe('valid');
});

test('an increment that is applied twice is reported as repeated', () => {
  const breach = breachOf('no-lost-update', repeated(true));
  expect(breach.rule).toBe('update-repeated');
  expect(breach.words).toMatchInlineSnapshot(
    `"One increment applied twice in \`store\`. Then alice wrote 1 to \`x\` at 3 ms. However, alice did not learn of it and did it again: alice wrote 2 to \`x\` at 12 ms."`,
  );
});

test('without grants, a section between another’s read and write exercises the claim', () => {
  const events = [
    read(1, 'alice', 0, 0, { operation: 'alice/1/read' }),
    read(1, 'bob', 0, 0, { operation: 'bob/1/read' }),
    invoke(2, 'bob/1/write', { value: 1, adds: 1 }),
    invoke(2, 'alice/1/write', { value: 1, adds: 1 }),
    write(3, 'bob', 0, 1, { ...adding, operation: 'bob/1/write' }),
    write(4, 'alice', 0, 1, { ...adding, operation: 'alice/1/write', isAccepted: false }),
    accepted(5, 'bob/1/write'),
    answer(5, 'alice/1/write', { kind: 'refused', highest: 0, version: 1 }),
  ];
  expect(verdictOn('no-lost-update', events)).toMatchObject({ kind: 'valid', exercised: 1 });
});

test('an increment that a restart undoes is lost', () => {
  const events = [...interleaved(0, false), recovered(20, 2, {})];
  expect(breachOf('no-lost-update', events).rule).toBe('lost-in-recovery');
});

test('a key that is also written blindly is judged only up to that write', () => {
  const blind = write(18, 'bob', 2, 9, { issue: 3, operation: 'bob/2/write-2' });
  expect(verdictOn('no-lost-update', [...interleaved(0, false), blind])).toMatchObject({
    kind: 'unknown',
    exercised: 0,
    reason:
      '`x` cannot be followed: bob wrote 9 to it at 18 ms, which does not update its previous value',
  });
  const outside = write(18, 'carol', 0, 9, { operation: 'carol/1/write' });
  expect(verdictOn('no-lost-update', [...interleaved(0, false), outside])).toMatchObject({
    kind: 'unknown',
    reason: expect.stringContaining('carol wrote 9 to it at 18 ms under no grant'),
  });
  expect(breachOf('no-lost-update', [...interleaved(0, true), blind]).rule).toBe('update-lost');
  const [first] = interleaved(0, false);
  if (first === undefined) throw new Error('nothing is granted');
  const begun = write(0.5, 'alice', 1, 0, { operation: 'alice/1/write-0' });
  expect(
    verdictOn('no-lost-update', [first, begun, ...interleaved(0, false).slice(1)]),
  ).toMatchObject({ kind: 'valid', exercised: 2 });
});

test('an unanswered increment does not make up for a lost acknowledged one', () => {
  const carolReads = read(20, 'carol', 3, 1);
  const events = [
    ...interleaved(0, true),
    grant(19, 'carol', 3),
    carolReads,
    invoke(21, 'carol/3/write', { value: 2, adds: 1 }),
    write(22, 'carol', 3, 2, adding),
    unknown(30, 'carol/3/write'),
  ];
  const breach = breachOf('no-lost-update', events);
  expect(breach.rule).toBe('update-lost');
  expect(breach.evidence).toContain('5 lost write');
});

test('a copy of a lost write restores its increment and undoes the overwriting one', () => {
  const dup = write(18, 'alice', 1, 1, adding);
  const acked = [...interleaved(0, true), dup];
  expect(breachOf('no-lost-update', acked).evidence).toContain('10 overwriting write');
  const unheard = acked.map((event) =>
    event.kind === 'return' && event.process === 'bob' ? unknown(17, 'bob/2/write') : event,
  );
  expect(verdictOn('no-lost-update', unheard).kind).toBe('valid');
});

/** User code reads under its guard and writes a value computed from the read. */
function guarded(alice: readonly number[], bobReads: number, bobWrites: number) {
  const written = alice.flatMap((value, at) => {
    const operation = `alice/1/write-${at + 1}`;
    const base = at === 0 ? 'alice/1/read' : `alice/1/write-${at}`;
    return [
      invoke(14, operation, { value, base }),
      write(15, 'alice', 1, value, { operation, issue: at + 2 }),
      accepted(16, operation),
    ];
  });
  return [
    grant(0, 'alice', 1),
    read(1, 'alice', 1, 0),
    grant(11, 'bob', 2),
    ...(bobReads === 0 ? [read(12, 'bob', 2, 0)] : []),
    ...written,
    ...(bobReads === 0 ? [] : [read(17, 'bob', 2, bobReads)]),
    invoke(18, 'bob/2/write', { value: bobWrites, base: 'bob/2/read' }),
    write(19, 'bob', 2, bobWrites, { issue: 2 }),
    accepted(20, 'bob/2/write'),
  ];
}

test('a write of user code after a read is an update, whatever it computes', () => {
  const breach = breachOf('no-lost-update', guarded([1], 0, 1));
  expect(breach.rule).toBe('update-lost');
  expect(breach.words).toContain('Acknowledged update lost in `store`');
  expect(breach.words).toContain('between that read and that write, so that update is gone');
  expect(breachOf('no-lost-update', guarded([30], 0, 7)).rule).toBe('update-lost');
  const kept = { kind: 'valid' };
  expect(verdictOn('no-lost-update', guarded([1], 1, 2))).toMatchObject(kept);
  expect(verdictOn('no-lost-update', guarded([30], 30, 1))).toMatchObject(kept);
});

test('a program may overwrite its own write, and a write of the same value cannot be lost', () => {
  expect(verdictOn('no-lost-update', guarded([1, 40], 40, 41))).toMatchObject({ kind: 'valid' });
  expect(breachOf('no-lost-update', guarded([1, 40], 0, 41)).rule).toBe('update-lost');
  expect(verdictOn('no-lost-update', guarded([0], 0, 9))).toMatchObject({ kind: 'valid' });
});

test('a probe that overwrites the counter ends its judgment there', () => {
  const probing = [grant(30, 'probe', 3), write(31, 'probe', 3, 1_000_000)];
  expect(breachOf('no-lost-update', [...interleaved(0, true), ...probing]).rule).toBe(
    'update-lost',
  );
  expect(verdictOn('no-lost-update', [...interleaved(0, false), ...probing]).kind).toBe('valid');
});

test('an increment acknowledged after the probe overwrote the counter is not missing', () => {
  const events = [
    grant(0, 'alice', 1),
    read(1, 'alice', 1, 0),
    invoke(9, 'alice/1/write', { value: 1, adds: 1 }),
    grant(30, 'probe', 2),
    write(31, 'probe', 2, 1_000_000),
    write(33, 'alice', 1, 1, adding),
    accepted(34, 'alice/1/write'),
  ];
  expect(verdictOn('no-lost-update', events)).toMatchObject({ kind: 'valid' });
});

/** Alice adds `by` to a key that holds 0, and `ending` ends her call; then bob reads `found`. */
function added(by: number, ending: TraceEvent | null, found: number): readonly TraceEvent[] {
  return [
    invoke(1, 'alice/1/write', { value: by, adds: by }),
    write(2, 'alice', 1, by, { adds: by }),
    ...(ending === null ? [] : [ending]),
    invoke(5, 'bob/2/write', { value: found + 1, adds: 1 }),
    write(6, 'bob', 2, found + 1, { adds: 1 }),
    accepted(7, 'bob/2/write'),
  ];
}

test.each([
  ['an acknowledged increment', 3, accepted(3, 'alice/1/write'), [3]],
  ['an acknowledged decrement', -3, accepted(3, 'alice/1/write'), [-3]],
  ['an increment without an answer', 3, unknown(3, 'alice/1/write'), [0, 3]],
  ['a decrement without an answer', -3, unknown(3, 'alice/1/write'), [-3, 0]],
  ['an increment that never ended', 3, null, [0, 3]],
  [
    'an increment that was refused',
    3,
    answer(3, 'alice/1/write', { kind: 'refused', highest: 2 }),
    [0],
  ],
])('%s allows only the sums that it may result in', (_, by, ending, sums) => {
  const verdicts = [-4, -3, 0, 3, 4].map((found) => {
    const verdict = verdictOn('no-lost-update', added(by, ending, found));
    return verdict.kind === 'invalid' ? verdict.rule : verdict.kind;
  });
  const [least = 0, most = least] = sums;
  expect(verdicts).toEqual(
    [-4, -3, 0, 3, 4].map((found) =>
      found < least ? 'update-lost' : found > most ? 'update-invented' : 'valid',
    ),
  );
});

test('increments are contested if another holder reads or writes in between', () => {
  const exercised = (...events: readonly TraceEvent[]): number =>
    verdictOn('no-lost-update', events).exercised;
  const calls = [
    invoke(0, 'alice/1/write', { value: 1, adds: 1 }),
    invoke(0, 'bob/2/write', { value: 2, adds: 1 }),
  ];
  const mine = [read(1, 'alice', 1, 0), write(4, 'alice', 1, 1, adding)];
  const theirs = [read(5, 'bob', 2, 1), write(6, 'bob', 2, 2, adding)];
  const [asks, asked] = calls;
  const [reads, writes] = mine;
  if (!asks || !asked || !reads || !writes) throw new Error('nothing is called');
  expect(exercised(asks, ...mine)).toBe(0);
  expect(exercised(reads, asks, writes)).toBe(0);
  expect(exercised(...calls, ...mine, ...theirs)).toBe(0);
  expect(exercised(asks, reads, read(2, 'bob', 2, 0), writes)).toBe(1);
  expect(exercised(asks, read(0, 'bob', 2, 0), reads, writes)).toBe(0);
});

test('an increment to another store or key does not count for this key', () => {
  const never = invoke(1, 'alice/1/write-3', { store: 'elsewhere', adds: 1 });
  const beside = invoke(1, 'alice/1/write-2', { key: 'y', adds: 1 });
  const events = [never, beside, ...interleaved(0, false)];
  expect(verdictOn('no-lost-update', events)).toMatchObject({ kind: 'valid', exercised: 2 });
});

test('an acknowledged increment is lost if its store ignored it in favor of a later stamp', () => {
  const put = (ms: number, client: string, more: Partial<Write>): Write =>
    write(ms, client, 0, 1, { process: 'store-1', store: 'store', adds: 1, ...more });
  const refusal = { kind: 'stamp', found: [0, 9, 'carol'] } as const;
  const ignored = { isAccepted: false, refusal };
  const names = ['carol', 'alice', 'bob'];
  const served = { process: 'store-2', store: 'store', written: 'alice/0/write' };
  const breach = breachOf('no-lost-update', [
    ...names.map((name) => invoke(1, `${name}/0/write`, { value: 1, adds: 1 })),
    read(2, 'carol', 0, 0, { process: 'store-1', store: 'store' }),
    put(2, 'carol', { stamp: [0, 9, 'carol'] }),
    accepted(3, 'carol/0/write'),
    // Alice gets no answer, but bob reads her write from a replica that took it.
    put(4, 'alice', { stamp: [0, 5, 'alice'], ...ignored }),
    unknown(5, 'alice/0/write'),
    read(5, 'bob', 0, 1, served),
    put(6, 'bob', { value: 2, stamp: [0, 6, 'bob'], ...ignored }),
    accepted(7, 'bob/0/write'),
  ]);
  expect(breach.rule).toBe('update-lost');
  expect(breach.evidence).toEqual([
    '3 other read',
    '4 overwriting write',
    '8 read',
    '9 lost write',
  ]);
  expect(breach.words).toBe(
    'Acknowledged increment ignored by `store`. Then bob read 1 from `x` at 5 ms, and carol wrote ' +
      "1 to `x` at 2 ms. However, bob's write of 2 to `x`, sent at 1 ms, arrived at 6 ms, after " +
      'a write with a later timestamp, and it was acknowledged: its increment is gone.',
  );
});

test.each([
  ['accepted', 'accepted', [1]],
  ['accepted', 'refused', [1]],
  ['unknown', 'accepted', [1]],
  ['unknown', 'unknown', [0, 1]],
  ['unknown', 'refused', [0, 1]],
  ['refused', 'unknown', [0, 1]],
  ['refused', 'accepted', [1]],
  ['refused', 'refused', [0]],
] as const)(
  'an increment whose first attempt is %s and whose second is %s counts once',
  (...tried) => {
    const [first, second, sums] = tried;
    const ended = (ms: number, name: string, how: string): TraceEvent => {
      if (how === 'unknown') return unknown(ms, name);
      const refused = { kind: 'refused', highest: 0 } as const;
      return how === 'accepted' ? accepted(ms, name) : answer(ms, name, refused);
    };
    const leadsTo = (sum: number): boolean => {
      const carol = { operation: 'carol/0/write', adds: 1 };
      const verdict = verdictOn('no-lost-update', [
        invoke(1, 'alice/0/write', { value: 1, adds: 1 }),
        ended(2, 'alice/0/write', first),
        invoke(3, 'alice/0/write-2', { value: 1, adds: 1, repeats: 'alice/0/write' }),
        ended(4, 'alice/0/write-2', second),
        invoke(5, 'carol/0/write', { value: 1, adds: 1 }),
        write(6, 'carol', 0, sum + 1, carol),
        accepted(7, 'carol/0/write'),
      ]);
      expect(verdict.exercised).toBe(1);
      return verdict.kind === 'valid';
    };
    expect([-1, 0, 1, 2].filter(leadsTo)).toEqual(sums);
  },
);

test('of two increments of one value, the late one is shown with the fault that delayed it', () => {
  const both = (under: readonly [number, number]): readonly string[] => {
    const [alice, bob] = under;
    const given = (client: string, ordinal: number, at: number): readonly TraceEvent[] =>
      ordinal === 0 ? [] : [grant(at, client, ordinal)];
    return breachOf('no-lost-update', [
      ...given('alice', alice, 0),
      read(1, 'alice', alice, 0),
      pause(2, 'alice', 20),
      ...given('bob', bob, 11),
      read(12, 'bob', bob, 0),
      invoke(13, `bob/${bob}/write`, { value: 1, adds: 1 }),
      write(14, 'bob', bob, 1, adding),
      accepted(15, `bob/${bob}/write`),
      invoke(20, `alice/${alice}/write`, { value: 1, adds: 1 }),
      write(21, 'alice', alice, 1, adding),
      accepted(22, `alice/${alice}/write`),
      read(23, 'alice', alice, 1, { operation: `alice/${alice}/read-2` }),
    ]).evidence;
  };
  expect(both([1, 2])).toEqual([
    '0 earlier grant',
    '1 read',
    '2 pause',
    '3 later grant',
    '4 other read',
    '6 lost write',
    '9 overwriting write',
  ]);
  expect(both([2, 1])).toEqual([
    '0 earlier grant',
    '1 read',
    '3 later grant',
    '4 other read',
    '6 lost write',
    '9 overwriting write',
  ]);
  expect(both([0, 0])).toEqual([
    '0 read',
    '1 pause',
    '2 other read',
    '4 lost write',
    '7 overwriting write',
  ]);
});

test('an increment that was not computed from a read is shown without one', () => {
  const second = { operation: 'alice/1/write-2', issue: 2, adds: 1 };
  const events = [
    grant(0, 'alice', 1),
    invoke(1, 'alice/1/write', { value: 1, adds: 1 }),
    write(2, 'alice', 1, 1, { adds: 1 }),
    accepted(3, 'alice/1/write'),
    invoke(4, 'alice/1/write-2', { value: 1, adds: 1 }),
    write(5, 'alice', 1, 1, second),
    accepted(6, 'alice/1/write-2'),
  ];
  expect(breachOf('no-lost-update', events).evidence).toEqual([
    '0 grant',
    '2 lost write',
    '5 overwriting write',
  ]);
});

test('a refused attempt is not evidence of a repeated increment', () => {
  const refused = write(2.5, 'alice', 0, 1, {
    ...adding,
    operation: 'alice/1/write',
    isAccepted: false,
  });
  const [asked, called, ...rest] = repeated(true);
  if (asked === undefined || called === undefined) throw new Error('nothing is called');
  expect(breachOf('no-lost-update', [asked, called, refused, ...rest]).evidence).toEqual([
    '3 first write',
    '7 repeated write',
  ]);
});

test('a probe that is refused, or that adds to the counter, does not end the judgment', () => {
  const refused = write(31, 'probe', 3, 1_000_000, { isAccepted: false });
  const adds = [
    read(31, 'probe', 3, 1),
    invoke(32, 'probe/3/write', { value: 3, adds: 2 }),
    write(33, 'probe', 3, 3, { issue: 2, adds: 2 }),
    accepted(34, 'probe/3/write'),
  ];
  const since = [invoke(35, 'bob/2/write-3', { value: 9, adds: 1 }), accepted(36, 'bob/2/write-3')];
  for (const probing of [[refused], adds]) {
    const events = [...interleaved(0, false), grant(30, 'probe', 3), ...probing];
    expect(verdictOn('no-lost-update', events).kind).toBe('valid');
    expect(breachOf('no-lost-update', [...events, ...since]).rule).toBe('lost-in-recovery');
  }
});
