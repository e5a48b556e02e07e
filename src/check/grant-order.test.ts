import { expect, test } from 'vitest';
import type { TraceEvent } from '../core/history/events.ts';
import { judge } from './claims.ts';
import {
  breachOf,
  deny,
  grant,
  pause,
  read,
  recovered,
  release,
  renew,
  send,
  terms,
  traceOf,
  verdictOn,
  write,
} from './trace-builder.fixture.ts';

/** A store in which the row `x` exists from the start. */
function stocked(ms: number, value: number): TraceEvent {
  const begins = { key: 'x', version: 5 };
  return { ...recovered(ms, 0, { x: value }), begins };
}

test('a row that exists from the start has its initial value again after the store lost it', () => {
  const lost = [
    stocked(0, 10),
    grant(1, 'alice', 1),
    read(2, 'alice', 1, 10),
    recovered(3, 0, {}),
    stocked(4, 10),
    grant(5, 'bob', 2),
  ];
  for (const events of [lost, [...lost, read(6, 'bob', 2, 10)]]) {
    expect(judge(traceOf(events), terms, ['grant-order'])).toMatchObject([{ kind: 'valid' }]);
  }
  expect(breachOf('grant-order', [...lost, read(6, 'bob', 2, 0)]).rule).toBe('wrong-value');
});

test('a sale from a row before the store lost it is a lost write', () => {
  const sold = [
    stocked(0, 10),
    grant(1, 'alice', 1),
    write(2, 'alice', 1, 9),
    recovered(3, 0, {}),
    stocked(4, 10),
    grant(5, 'bob', 2),
    read(6, 'bob', 2, 10),
  ];
  expect(breachOf('grant-order', sold).rule).toBe('lost-in-recovery');
});

const zombie = [
  grant(0, 'alice', 1),
  pause(3, 'alice', 20),
  grant(12, 'bob', 2),
  write(15, 'bob', 2, 2),
  send(20, 'alice', 'alice/1/write'),
];

test('a refused write of a paused holder keeps the grant order', () => {
  const events = [...zombie, write(20, 'alice', 1, 1, { isAccepted: false, highest: 2 })];
  expect(verdictOn('grant-order', events)).toMatchObject({ kind: 'valid', exercised: 1 });
});

test('a paused holder that overwrites its successor breaks the grant order', () => {
  const breach = breachOf('grant-order', [
    ...zombie,
    write(20, 'alice', 1, 1),
    pause(25, 'alice', 30),
  ]);
  expect(breach.rule).toBe('stale-write');
  expect(breach.evidence).toEqual([
    '0 earlier grant',
    '1 pause',
    '2 later grant',
    '3 later write',
    '5 stale write',
  ]);
  expect(breach.words).toMatchInlineSnapshot(
    `"Stale write accepted by \`store\`. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms) and B be bob's grant 2 (from 12 ms). Then bob wrote 2 to \`x\` with token 2 at 15 ms. However, alice, paused from 3 ms to 20 ms, sent the write of 1 to \`x\` with token 1 at 20 ms, and the store accepted it although it had already accepted token 2."`,
  );
});

test('a stale write that is overwritten before any read breaks nothing', () => {
  const events = [
    ...zombie,
    write(20, 'alice', 1, 1),
    grant(30, 'carol', 3),
    write(31, 'carol', 3, 3),
  ];
  expect(verdictOn('grant-order', events)).toMatchObject({ kind: 'valid', exercised: 1 });
});

test('a late blind write that arrives before the first access of its successor is legal', () => {
  const events = [
    grant(0, 'alice', 1),
    grant(12, 'bob', 2),
    write(13, 'alice', 1, 1),
    write(15, 'bob', 2, 2),
  ];
  expect(verdictOn('grant-order', events)).toMatchObject({ kind: 'valid', exercised: 1 });
});

test('an older write that arrives after a holder’s read breaks the grant order', () => {
  const breach = breachOf('grant-order', [
    grant(0, 'alice', 1),
    grant(11, 'bob', 2),
    send(9, 'alice', 'alice/1/write'),
    read(12, 'bob', 2, 0),
    write(14, 'alice', 1, 1),
    write(15, 'bob', 2, 2, { issue: 2 }),
  ]);
  expect(breach.rule).toBe('write-after-read');
  expect(breach.evidence).toEqual([
    '0 earlier grant',
    '1 later grant',
    '3 later read',
    '4 stale write',
  ]);
  expect(breach.words).toMatchInlineSnapshot(
    `"Write accepted by \`store\` after a later holder had read. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms) and B be bob's grant 2 (from 11 ms). Then bob read 0 from \`x\` with token 2 at 12 ms. However, alice's write of 1 to \`x\`, sent with token 1 at 9 ms, arrived at 14 ms, and the store accepted it although bob had already read \`x\`."`,
  );
});

test('a third holder’s read of a stale write is part of the evidence', () => {
  const breach = breachOf('grant-order', [
    ...zombie,
    write(20, 'alice', 1, 1),
    grant(30, 'carol', 3),
    read(31, 'carol', 3, 1),
    write(32, 'carol', 3, 3, { issue: 2 }),
  ]);
  expect(breach.rule).toBe('stale-write');
  expect(breach.evidence).toContain('7 read');
  expect(breach.words).toMatchInlineSnapshot(
    `"Stale write accepted by \`store\`. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms), B be bob's grant 2 (from 12 ms) and C be carol's grant 3 (from 30 ms). Then bob wrote 2 to \`x\` with token 2 at 15 ms. However, alice, paused from 3 ms to 20 ms, sent the write of 1 to \`x\` with token 1 at 20 ms, and the store accepted it although it had already accepted token 2; then carol read 1 from \`x\` with token 3 at 31 ms."`,
  );
});

test('a stale read that returns the successor’s write breaks the grant order', () => {
  const breach = breachOf('grant-order', [
    grant(0, 'alice', 1),
    grant(12, 'bob', 2),
    write(15, 'bob', 2, 2),
    read(20, 'alice', 1, 2),
  ]);
  expect(breach.rule).toBe('read-of-later');
  expect(breach.words).toMatchInlineSnapshot(
    `"Stale read served by \`store\`. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms) and B be bob's grant 2 (from 12 ms). Then bob wrote 2 to \`x\` with token 2 at 15 ms. However, alice's read of \`x\` came with token 1 at 20 ms, and the store returned 2, written under B."`,
  );
});

test('writes of one grant that overtake each other leave the wrong value', () => {
  const breach = breachOf('grant-order', [
    grant(0, 'alice', 1),
    write(3, 'alice', 1, 2, { issue: 2, operation: 'alice/1/write-2' }),
    write(5, 'alice', 1, 1),
  ]);
  expect(breach.rule).toBe('issue-order');
  expect(breach.evidence).toEqual(['0 grant', '1 newer write', '2 older write']);
  expect(breach.words).toMatchInlineSnapshot(
    `"Writes of one grant applied out of order by \`store\`. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms). Then alice wrote 2 to \`x\` with token 1 at 3 ms. However, alice's write of 1 to \`x\` came with token 1 at 5 ms, and the store accepted it, although it had been issued earlier under A."`,
  );
});

test('a section that reads before its own earlier write arrives does not see it', () => {
  const breach = breachOf('grant-order', [
    grant(0, 'alice', 1),
    read(3, 'alice', 1, 0, { issue: 2 }),
    write(5, 'alice', 1, 1),
  ]);
  expect(breach.rule).toBe('read-before-own-write');
  expect(breach.words).toMatchInlineSnapshot(
    `"A section's read from \`store\` missed its earlier write. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms). Then alice read 0 from \`x\` with token 1 at 3 ms. However, alice's write of 1 to \`x\` came with token 1 at 5 ms, although it had been issued before that read."`,
  );
});

test('a section whose read arrives after its own later write sees that write', () => {
  const breach = breachOf('grant-order', [
    grant(0, 'alice', 1),
    write(3, 'alice', 1, 1, { issue: 2 }),
    read(5, 'alice', 1, 1),
  ]);
  expect(breach.rule).toBe('read-of-own-later');
  expect(breach.words).toMatchInlineSnapshot(
    `"A section's read from \`store\` returned its later write. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms). Then alice wrote 1 to \`x\` with token 1 at 3 ms. However, alice's read of \`x\` came with token 1 at 5 ms, although it had been issued before that write."`,
  );
});

test('a value that the store does not hold cannot be read', () => {
  const breach = breachOf('grant-order', [
    grant(0, 'alice', 1),
    write(3, 'alice', 1, 1),
    read(5, 'alice', 1, 7, { issue: 2 }),
  ]);
  expect(breach.rule).toBe('wrong-value');
  expect(breach.words).toMatchInlineSnapshot(
    `"Wrong value served by \`store\`. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms). Then alice wrote 1 to \`x\` with token 1 at 3 ms. However, alice read 7 from \`x\` with token 1 at 5 ms."`,
  );
});

test('a write that a store loses in a restart is missing at the end', () => {
  const breach = breachOf('grant-order', [
    grant(0, 'alice', 1),
    write(3, 'alice', 1, 1),
    recovered(8, 1, {}),
  ]);
  expect(breach.rule).toBe('lost-in-recovery');
  expect(breach.words).toMatchInlineSnapshot(
    `"Accepted write lost by \`store\`. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms). Then alice wrote 1 to \`x\` with token 1 at 3 ms. However, the store came back at 8 ms without it."`,
  );
  const kept = [grant(0, 'alice', 1), write(3, 'alice', 1, 1), recovered(8, 1, { x: 1 })];
  expect(verdictOn('grant-order', kept).kind).toBe('valid');
});

test('a denied acquire exercises the claim on a lock without an end', () => {
  const events = [grant(0, 'alice', 1, { untilUs: null }), deny(3, 'bob', 1)];
  expect(verdictOn('grant-order', events)).toMatchObject({ kind: 'valid', exercised: 1 });
});

test('the final state is judged only if the run ended normally', () => {
  const truncated = { kind: 'cut', limit: 'end' } as const;
  const [verdict] = judge(traceOf([...zombie, write(20, 'alice', 1, 1)], truncated), terms, [
    'grant-order',
  ]);
  expect(verdict?.kind).toBe('unknown');
});

test('a key that is written both under a grant and outside any is not judged', () => {
  const events = [...zombie, write(20, 'alice', 1, 1), write(21, 'carol', 0, 5)];
  expect(verdictOn('grant-order', events)).toMatchObject({
    kind: 'unknown',
    exercised: 0,
    reason: 'carol wrote `x` outside any grant, by `carol/0/write`',
  });
});

test('a key that is only written outside grants is out of scope', () => {
  const events = [write(20, 'alice', 0, 1), write(21, 'carol', 0, 5)];
  expect(verdictOn('grant-order', events)).toMatchObject({ kind: 'valid', exercised: 0 });
});

test('a grant without an end is contested by each acquire while it is held', () => {
  const held = grant(0, 'alice', 1, { untilUs: null });
  const exercised = (...events: readonly TraceEvent[]): number =>
    verdictOn('grant-order', events).exercised;
  expect(exercised(held)).toBe(0);
  expect(exercised(held, deny(5, 'bob', 1), deny(6, 'bob', 1))).toBe(2);
  expect(exercised(held, grant(5, 'bob', 2))).toBe(1);
  expect(exercised(held, release(4, 'alice', 1), grant(5, 'bob', 2))).toBe(0);
  expect(exercised(held, renew(4, 'alice', 1, { untilUs: null }))).toBe(0);
  expect(exercised(grant(0, 'alice', 1), deny(5, 'bob', 1))).toBe(0);
});

test('the explanation mentions a grant that its server ended early, but not a released one', () => {
  const forEver = { untilUs: null };
  const events = (message: string): readonly TraceEvent[] => [
    grant(1, 'alice', 1, forEver),
    release(3, 'alice', 1, { message }),
    grant(3, 'bob', 2, forEver),
    write(5, 'bob', 2, 2),
    write(13, 'alice', 1, 1),
  ];
  expect(breachOf('grant-order', events('')).words).toContain('`lock` ended A at 3 ms');
  expect(breachOf('grant-order', events('alice/1/release/1/request')).words).not.toContain(
    'ended A',
  );
});
