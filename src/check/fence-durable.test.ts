import { expect, test } from 'vitest';
import { breachOf, fault, grant, recovered, verdictOn, write } from './trace-builder.fixture.ts';

const crashed = [
  grant(0, 'alice', 1),
  write(2, 'alice', 1, 1),
  fault(3, 'crash', 'store', { untilMs: 5 }),
];

test('a store that recovers with its highest token keeps the claim', () => {
  const events = [...crashed, recovered(5, 1, { x: 1 })];
  expect(verdictOn('fence-durable', events)).toMatchObject({ kind: 'valid', exercised: 1 });
});

test('a store that recovers with a lower token breaks the claim', () => {
  const breach = breachOf('fence-durable', [...crashed, recovered(5, 0, { x: 1 })]);
  expect(breach.rule).toBe('fence-forgotten');
  expect(breach.evidence).toEqual(['0 grant', '1 highest write', '2 crash', '3 recovery']);
  expect(breach.words).toMatchInlineSnapshot(
    `"Highest token forgotten by \`store\`. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms). Then alice wrote 1 to \`x\` with token 1 at 2 ms. However, the store came back at 5 ms and the highest token it knew for \`db\` was 0: \`store\` crashed at 3 ms."`,
  );
});

test('a recovery before any token was accepted exercises nothing', () => {
  const events = [recovered(5, 0, {})];
  expect(verdictOn('fence-durable', events)).toMatchObject({ kind: 'valid', exercised: 0 });
});

test('a store that compares no tokens has no fence to forget', () => {
  const events = [...crashed, recovered(5, 0, { x: 1 })];
  const verdict = verdictOn('fence-durable', events, { isFenced: false });
  expect(verdict).toMatchObject({ kind: 'valid', exercised: 0 });
});

test('the highest accepted token of a write counts, not the last', () => {
  const grants = [5, 3, 9].map((token, at) => grant(0, 'alice', at + 1, { token }));
  const writes = [
    write(1, 'alice', 1, 1, { token: 5 }),
    write(2, 'alice', 2, 2, { token: 3 }),
    write(3, 'alice', 3, 3, { token: 9, isAccepted: false }),
  ];
  const back = (highest: number) => [...grants, ...writes, recovered(5, highest, {})];
  expect(breachOf('fence-durable', back(4)).evidence).toContain('3 highest write');
  expect(verdictOn('fence-durable', back(5))).toMatchObject({ kind: 'valid', exercised: 1 });
});

test('the first of several writes with the highest token is shown; token 0 never counts', () => {
  const twice = [grant(0, 'alice', 1), write(1, 'alice', 1, 1), write(2, 'alice', 1, 2)];
  const breach = breachOf('fence-durable', [...twice, recovered(5, 0, {})]);
  expect(breach.evidence).toContain('1 highest write');
  const without = [write(1, 'alice', 0, 1, { token: 0 }), recovered(5, 0, {})];
  expect(verdictOn('fence-durable', without)).toMatchObject({ kind: 'valid', exercised: 0 });
});
