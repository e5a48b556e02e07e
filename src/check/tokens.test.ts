/** Tests the claims about tokens: unique, increasing, kept by a renew, and bound to their grant. */
import { expect, test } from 'vitest';
import {
  breachOf,
  fault,
  grant,
  invoke,
  renew,
  verdictOn,
  write,
} from './trace-builder.fixture.ts';

const restarted = [
  grant(0, 'alice', 1),
  fault(3, 'crash', 'lock', { untilMs: 5 }),
  grant(12, 'bob', 2, { token: 1 }),
];

test('increasing tokens are unique and increase', () => {
  const events = [grant(0, 'alice', 1), grant(12, 'bob', 2)];
  expect(verdictOn('tokens-unique', events)).toMatchObject({ kind: 'valid', exercised: 1 });
  expect(verdictOn('tokens-increase', events)).toMatchObject({ kind: 'valid', exercised: 1 });
});

test('a counter that restarts gives a token twice', () => {
  const breach = breachOf('tokens-unique', restarted);
  expect(breach.rule).toBe('token-shared');
  expect(breach.evidence).toEqual(['0 earlier grant', '1 crash', '2 later grant']);
  expect(breach.words).toMatchInlineSnapshot(
    `"Token issued twice for \`db\`. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms) and B be bob's grant 2 (token 1, from 12 ms). Then bob was granted B after A, at 12 ms. However, its token is 1, the same as that of A, 1: \`lock\` crashed at 3 ms, and its tokens began again at 1."`,
  );
});

test('a counter that restarts does not increase', () => {
  const breach = breachOf('tokens-increase', restarted);
  expect(breach.rule).toBe('token-not-higher');
  expect(breach.words).toMatchInlineSnapshot(
    `"Token did not increase for \`db\`. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms) and B be bob's grant 2 (token 1, from 12 ms). Then bob was granted B after A, at 12 ms. However, its token is 1, not above that of A, 1: \`lock\` crashed at 3 ms, and its tokens began again at 1."`,
  );
});

test('each lock counts separately', () => {
  const events = [grant(0, 'alice', 1), grant(1, 'bob', 2, { lock: 'mail', token: 1 })];
  expect(verdictOn('tokens-unique', events)).toMatchObject({ kind: 'valid', exercised: 0 });
});

test('a renew that keeps the token is stable', () => {
  const events = [grant(0, 'alice', 1), renew(5, 'alice', 1)];
  expect(verdictOn('token-stable', events)).toMatchObject({ kind: 'valid', exercised: 1 });
});

test('a renew that changes the token is not stable, but a write with the new one is bound', () => {
  const events = [
    grant(0, 'alice', 1),
    renew(5, 'alice', 1, { token: 2 }),
    write(6, 'alice', 1, 1, { token: 2 }),
  ];
  const breach = breachOf('token-stable', events);
  expect(breach.rule).toBe('token-changed');
  expect(breach.evidence).toEqual(['0 grant', '1 renewal']);
  expect(breach.words).toMatchInlineSnapshot(
    `"Token of \`db\` changed by a renew. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms). Then A was given token 1 at 0 ms. However, the renew at 5 ms gave it token 2."`,
  );
  expect(verdictOn('token-bound', events).kind).toBe('valid');
});

const succeeded = [grant(0, 'alice', 1), grant(12, 'bob', 2), invoke(13, 'alice/1/write')];

test('a late write with its own old token is bound to its grant', () => {
  const events = [...succeeded, write(14, 'alice', 1, 1)];
  expect(verdictOn('token-bound', events)).toMatchObject({ kind: 'valid', exercised: 1 });
});

test('a write with the token of the successor is not bound to its grant', () => {
  const breach = breachOf('token-bound', [...succeeded, write(14, 'alice', 1, 1, { token: 2 })]);
  expect(breach.rule).toBe('token-foreign');
  expect(breach.evidence).toEqual(['0 grant', '1 other grant', '3 write']);
  expect(breach.words).toMatchInlineSnapshot(
    `"Write by alice with another grant's token. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms) and B be bob's grant 2 (from 12 ms). Then A was given token 1 at 0 ms. However, alice wrote 1 to \`x\` with token 2 at 14 ms, and that token belongs to B, not A."`,
  );
});

test('a write without its token is not bound to its grant', () => {
  const breach = breachOf('token-bound', [...succeeded, write(14, 'alice', 1, 1, { token: 0 })]);
  expect(breach.words).toMatchInlineSnapshot(
    `"Write by alice with another grant's token. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms). Then A was given token 1 at 0 ms. However, alice wrote 1 to \`x\` without a token at 14 ms, and that token belongs to no grant."`,
  );
});

test('a lock whose grants all have token 0 has no tokens to judge', () => {
  const events = [grant(0, 'alice', 1, { token: 0 }), grant(12, 'bob', 2, { token: 0 })];
  for (const claim of ['tokens-unique', 'tokens-increase']) {
    expect(verdictOn(claim, events)).toMatchObject({ kind: 'valid', exercised: 0 });
  }
});

test('a token 0 among other tokens is judged like any token', () => {
  const events = [grant(0, 'alice', 1), grant(12, 'bob', 2, { token: 0 })];
  expect(breachOf('tokens-increase', events).rule).toBe('token-not-higher');
});

test('a token is bound to the client that was given it, whatever its number', () => {
  const otherWrite = write(14, 'bob', 1, 1, { token: 1 });
  expect(breachOf('token-bound', [grant(0, 'alice', 1), otherWrite]).rule).toBe('token-foreign');
});

test('a write exercises the claim if it was sent after its lock was granted again', () => {
  const exercised = (...events: Parameters<typeof verdictOn>[1]): number =>
    verdictOn('token-bound', events).exercised;
  const [mine, next] = [grant(0, 'alice', 1), grant(12, 'bob', 2)];
  const call = invoke(13, 'alice/1/write');
  const late = write(14, 'alice', 1, 1);
  expect(exercised(mine, invoke(1, 'alice/1/write'), write(2, 'alice', 1, 1))).toBe(0);
  expect(exercised(mine, next, call, late)).toBe(1);
  expect(exercised(mine, call, next, late)).toBe(0);
  expect(exercised(mine, { ...next, lock: 'b' }, call, late)).toBe(0);
});
