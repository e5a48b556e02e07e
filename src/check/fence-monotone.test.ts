import { expect, test } from 'vitest';
import { breachOf, grant, pause, recovered, verdictOn, write } from './trace-builder.fixture.ts';

const taken = [grant(0, 'alice', 1), pause(3, 'alice', 20), grant(12, 'bob', 2)];

test('a fence that refuses the older token is exercised and holds', () => {
  const events = [
    ...taken,
    write(15, 'bob', 2, 2),
    write(20, 'alice', 1, 1, { isAccepted: false }),
  ];
  expect(verdictOn('fence-monotone', events)).toMatchObject({ kind: 'valid', exercised: 1 });
});

test('a write of an older grant after that of a newer one breaks the fence', () => {
  const breach = breachOf('fence-monotone', [
    ...taken,
    write(15, 'bob', 2, 2),
    write(20, 'alice', 1, 1),
  ]);
  expect(breach.rule).toBe('stale-write');
  expect(breach.evidence).toEqual([
    '0 earlier grant',
    '1 pause',
    '2 later grant',
    '3 later write',
    '4 stale write',
  ]);
});

test('a store that forgot its highest token in a restart is described as such', () => {
  const breach = breachOf('fence-monotone', [
    ...taken,
    write(15, 'bob', 2, 2),
    recovered(18, 0, { x: 2 }),
    write(20, 'alice', 1, 1),
  ]);
  expect(breach.evidence).toContain('4 recovery');
  expect(breach.words).toMatchInlineSnapshot(
    `"Stale write accepted by \`store\`. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms) and B be bob's grant 2 (from 12 ms). Then bob wrote 2 to \`x\` with token 2 at 15 ms. However, alice, paused from 3 ms to 20 ms, sent the write of 1 to \`x\` with token 1 at 20 ms, and the store accepted it: the store came back at 18 ms and had forgotten token 2."`,
  );
});

test('an accepted announcement of a token raises the fence', () => {
  const announced = [...taken, write(13, 'bob', 2, null), write(20, 'alice', 1, 1)];
  expect(breachOf('fence-monotone', announced).rule).toBe('stale-write');
});

test('a lower token of a newer grant breaks the fence by its token', () => {
  const breach = breachOf('fence-monotone', [
    grant(0, 'alice', 1, { token: 5 }),
    write(2, 'alice', 1, 1, { token: 5 }),
    grant(12, 'bob', 2, { token: 1 }),
    write(15, 'bob', 2, 2, { token: 1 }),
  ]);
  expect(breach.rule).toBe('token-lower');
  expect(breach.words).toMatchInlineSnapshot(
    `"Token 1 accepted after 5 by \`store\`. Let A be alice's grant 1 of \`db\` (token 5, from 0 ms, ttl 10 ms) and B be bob's grant 2 (token 1, from 12 ms). Then alice wrote 1 to \`x\` with token 5 at 2 ms. However, bob's write of 2 to \`x\` came with token 1 at 15 ms, and the store accepted it although it had already accepted token 5."`,
  );
});

test('a write without a token is judged by its grant number', () => {
  const forgotten = write(20, 'alice', 1, 1, { token: 0 });
  const breach = breachOf('fence-monotone', [...taken, write(15, 'bob', 2, 2), forgotten]);
  expect(breach.words).toContain('without a token');
  const clientEvents = [
    grant(0, 'alice', 1),
    write(1, 'alice', 1, 1),
    write(2, 'alice', 1, 1, { token: 0 }),
  ];
  expect(verdictOn('fence-monotone', clientEvents).kind).toBe('valid');
});

test('each resource in each store has its own fence', () => {
  const elsewhere = write(20, 'alice', 1, 1, { process: 'archive' });
  expect(verdictOn('fence-monotone', [...taken, write(15, 'bob', 2, 2), elsewhere])).toMatchObject({
    kind: 'valid',
    exercised: 0,
  });
});

test('a write without a token does not reset the highest token', () => {
  const tokens = [5, 0, 3];
  const grants = tokens.map((_, at) => grant(at, 'alice', at + 1));
  const writes = tokens.map((token, at) => write(5 + at, 'alice', at + 1, at, { token }));
  const breach = breachOf('fence-monotone', [...grants, ...writes]);
  expect(breach.rule).toBe('token-lower');
  expect(breach.evidence).toContain('3 later write');
});
