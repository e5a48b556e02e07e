import { expect, test } from 'vitest';
import {
  acquire,
  breachOf,
  fault,
  grant,
  release,
  renew,
  unknown,
  verdictOn,
} from './trace-builder.fixture.ts';

const claim = 'owner-only-release';
const succeeded = [
  grant(0, 'alice', 1),
  fault(9, 'delay', 'alice', { target: 'alice/1/release/1/request', amount: 4000 }),
  grant(11, 'bob', 2),
];

test('a late release that names an ended grant changes nothing', () => {
  const events = [...succeeded, release(13, 'alice', 1, { released: 0 })];
  expect(verdictOn(claim, events)).toMatchObject({ kind: 'valid', exercised: 1 });
});

test('a late release that ends the grant of the successor breaks the claim', () => {
  const breach = breachOf(claim, [...succeeded, release(13, 'alice', 1, { released: 2 })]);
  expect(breach.rule).toBe('foreign-release');
  expect(breach.evidence).toEqual(['0 grant meant', '1 delay', '2 grant touched', '3 release']);
  expect(breach.words).toMatchInlineSnapshot(
    `"\`db\` released by alice, who no longer held it. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms) and B be bob's grant 2 (from 11 ms). Then bob was granted B at 11 ms. However, alice's release under A was handled at 13 ms and ended B: alice's release came 4 ms late."`,
  );
});

test('a late renew that extends the grant of the successor breaks the claim', () => {
  const breach = breachOf(claim, [...succeeded, renew(13, 'alice', 1, { extended: 2 })]);
  expect(breach.rule).toBe('foreign-renewal');
  expect(breach.words).toMatchInlineSnapshot(
    `"Lease of \`db\` extended by alice, who no longer held it. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms) and B be bob's grant 2 (from 11 ms). Then bob was granted B at 11 ms. However, alice's renew under A was handled at 13 ms and extended B."`,
  );
});

test('a release exercises the claim only after the end of its grant', () => {
  const inTime = [grant(0, 'alice', 1), release(5, 'alice', 1)];
  expect(verdictOn(claim, inTime)).toMatchObject({ kind: 'valid', exercised: 0 });
  const twice = [...inTime, release(6, 'alice', 1, { released: 0 })];
  expect(verdictOn(claim, twice)).toMatchObject({ kind: 'valid', exercised: 1 });
  const expired = [grant(0, 'alice', 1), release(10, 'alice', 1)];
  expect(verdictOn(claim, expired)).toMatchObject({ kind: 'valid', exercised: 1 });
});

test('a change under an unknown grant, or one that is not the latest, exercises the claim', () => {
  const none = { released: 0 };
  expect(verdictOn(claim, [release(2, 'bob', 7, none)])).toMatchObject({ exercised: 1 });
  const late = [grant(0, 'alice', 1), grant(1, 'bob', 2), release(2, 'alice', 1, none)];
  expect(verdictOn(claim, late)).toMatchObject({ kind: 'valid', exercised: 1 });
  const clientGrants = [
    grant(0, 'alice', 1),
    release(1, 'alice', 7, { ...none, process: 'alice' }),
  ];
  expect(verdictOn(claim, clientGrants)).toMatchObject({ kind: 'valid', exercised: 0 });
});

test('a release of another’s grant is shown with faults of its client and the lock server', () => {
  const breach = breachOf(claim, [
    grant(0, 'alice', 1),
    fault(1, 'pause', 'bob', { untilMs: 2 }),
    fault(1, 'crash', 'lock'),
    fault(1, 'crash', 'store'),
    release(3, 'bob', 7, { released: 1 }),
  ]);
  expect(breach.evidence).toEqual(['0 grant touched', '1 pause', '2 crash', '4 release']);
});

test('only a release that names no grant may end a grant that its client never learned of', () => {
  const asked = [
    acquire(0, 'alice/2/acquire'),
    grant(1, 'alice', 2),
    unknown(3, 'alice/2/acquire'),
  ];
  const ended = release(4, 'alice', 0, { released: 2, message: 'alice/2/withdraw/1/request' });
  expect(verdictOn(claim, [...asked, ended])).toMatchObject({ kind: 'valid', exercised: 0 });
  const named = [grant(0, 'alice', 1), ...asked, { ...ended, under: 1 }];
  expect(verdictOn(claim, named)).toMatchObject({ kind: 'invalid' });
});
