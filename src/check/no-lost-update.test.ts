import { expect, test } from 'vitest';
import type { TraceEvent } from '../core/history/trace.ts';
import {
  accepted,
  answer,
  breachOf,
  grant,
  invoke,
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

test('an increment that is refused because another has read since is not lost', () => {
  expect(verdictOn('no-lost-update', interleaved(0, false))).toMatchObject({
    kind: 'valid',
    exercised: 2,
  });
});

test('two acknowledged increments of one value are one increment too few', () => {
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
    `"Acknowledged increment lost in \`store\`. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms) and B be bob's grant 2 (from 11 ms). Then bob read 0 from \`x\` with token 2 at 12 ms, and bob wrote 1 to \`x\` with token 2 at 16 ms. However alice's write of 1 to \`x\`, sent with token 1 at 9 ms, arrived at 14 ms, between that read and that write, so one of the two increments is gone."`,
  );
});

test('an increment without an answer may be in the sum or not', () => {
  const events = interleaved(0, true).map((event) =>
    event.kind === 'return' && event.process === 'alice' ? unknown(15, 'alice/1/write') : event,
  );
  expect(verdictOn('no-lost-update', events)).toMatchObject({ kind: 'valid', exercised: 2 });
});

test('a counter that holds more than was tried is not believed', () => {
  const breach = breachOf('no-lost-update', interleaved(4, true));
  expect(breach.rule).toBe('update-invented');
  expect(breach.words).toMatchInlineSnapshot(
    `"More in \`store\` than was ever added. Let A be bob's grant 2 of \`db\` (from 11 ms, ttl 10 ms). Then bob wrote 5 to \`x\` with token 2 at 16 ms. However no set of the increments that were tried adds up to 5."`,
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

test('an increment that is written twice under one key counts once', () => {
  expect(verdictOn('no-lost-update', repeated(false)).kind).toBe('valid');
});

test('an increment that is applied twice is one more than was tried', () => {
  const breach = breachOf('no-lost-update', repeated(true));
  expect(breach.rule).toBe('update-repeated');
  expect(breach.words).toMatchInlineSnapshot(
    `"One increment applied twice in \`store\`. Then alice wrote 1 to \`x\` at 3 ms. However alice did not learn of it and did it again: alice wrote 2 to \`x\` at 12 ms."`,
  );
});

test('without grants, another section between read and write is what is tested', () => {
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

test('a key that is also written blindly is no counter', () => {
  const blind = write(18, 'bob', 2, 9, { issue: 3, operation: 'bob/2/write-2' });
  expect(verdictOn('no-lost-update', [...interleaved(0, true), blind])).toMatchObject({
    kind: 'valid',
    exercised: 0,
  });
});

test('a probe that overwrites the counter ends its judgement there', () => {
  const probing = [grant(30, 'probe', 3), write(31, 'probe', 3, 1_000_000)];
  expect(breachOf('no-lost-update', [...interleaved(0, true), ...probing]).rule).toBe(
    'update-lost',
  );
  expect(verdictOn('no-lost-update', [...interleaved(0, false), ...probing]).kind).toBe('valid');
});

test('an increment that is acknowledged after the probe overwrote the counter is not missed', () => {
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

/** Alice adds `by` to a key that holds 0 and is told how that ended; then bob reads `found`. */
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
])('%s leads to no other sums than it may', (_, by, ending, sums) => {
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

test('increments are contested where another holder reads or writes in between', () => {
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
  expect(exercised(...calls, ...mine, ...theirs)).toBe(0);
  expect(exercised(asks, reads, read(2, 'bob', 2, 0), writes)).toBe(1);
  expect(exercised(asks, read(0, 'bob', 2, 0), reads, writes)).toBe(0);
});
