import { expect, test } from 'vitest';
import { measureHolderOverlap } from './holder-overlap.ts';
import {
  breachOf,
  enter,
  grant,
  healed,
  leave,
  traceOf,
  verdictOn,
} from './trace-builder.fixture.ts';
import { indexTrace } from './trace-index.ts';

const inTurn = [enter(0, 'alice', 1, 10), leave(5, 'alice', 1), enter(6, 'bob', 2, 16)];
const atOnce = [
  grant(0, 'alice', 1),
  enter(1, 'alice', 1, 10),
  grant(11, 'bob', 2),
  enter(12, 'bob', 2, 22),
  leave(15, 'alice', 1),
  enter(16, 'carol', 3, 26),
  leave(20, 'bob', 2),
  leave(21, 'carol', 3),
];

test('programs that take turns never overlap', () => {
  expect(verdictOn('holder-overlap', inTurn)).toMatchObject({ kind: 'valid', exercised: 1 });
  expect(measureHolderOverlap(indexTrace(traceOf(inTurn)))).toEqual({
    times: 0,
    longestUs: 0,
    totalUs: 0,
  });
});

test('an overlap lasts from the second entry until one of the two leaves', () => {
  const breach = breachOf('holder-overlap', atOnce);
  expect(breach.rule).toBe('both-believe');
  expect(breach.evidence).toEqual([
    '0 earlier grant',
    '1 earlier entry',
    '2 later grant',
    '3 later entry',
  ]);
  expect(breach.words).toMatchInlineSnapshot(
    `"alice and bob both believed to hold \`db\`. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms) and B be bob's grant 2 (from 11 ms). Then alice entered \`alice/1\` at 1 ms. However, bob entered \`bob/2\` at 12 ms, before alice had left."`,
  );
  expect(measureHolderOverlap(indexTrace(traceOf(atOnce)))).toEqual({
    times: 2,
    longestUs: 4000,
    totalUs: 7000,
  });
});

test('a program that never leaves overlaps until the end of the run', () => {
  const stays = [enter(0, 'alice', 1, 10), enter(6, 'bob', 2, 16), healed(9)];
  expect(measureHolderOverlap(indexTrace(traceOf(stays))).totalUs).toBe(3000);
});

test('a program that enters after the end of its lease is described as such', () => {
  const late = [
    grant(12, 'alice', 1, { sentAtUs: 0 }),
    enter(12, 'alice', 1, 8),
    grant(13, 'bob', 2),
    enter(13, 'bob', 2, 22),
  ];
  const { words } = breachOf('holder-overlap', late);
  expect(words).toContain(
    'alice entered `alice/1` at 12 ms, although its lease, asked for at 0 ms, had ended at 8 ms',
  );
});
