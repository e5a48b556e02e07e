import { expect, test } from 'vitest';
import { breachOf, grant, release, renew, verdictOn } from './trace-builder.fixture.ts';

const late = { sentAtUs: 9000 };

test('a renew that arrives after expiry and is denied keeps the claim', () => {
  const events = [
    grant(0, 'alice', 1),
    grant(11, 'bob', 2),
    renew(12, 'alice', 1, { ...late, extended: 0 }),
  ];
  expect(verdictOn('renew-live', events)).toMatchObject({ kind: 'valid', exercised: 1 });
});

test('a renew that arrives after expiry and extends the successor breaks the claim', () => {
  const breach = breachOf('renew-live', [
    grant(0, 'alice', 1),
    grant(11, 'bob', 2),
    renew(12, 'alice', 1, { ...late, extended: 2 }),
  ]);
  expect(breach.rule).toBe('renewed-successor');
  expect(breach.evidence).toEqual(['0 grant meant', '1 grant touched', '2 renewal']);
  expect(breach.words).toMatchInlineSnapshot(
    `"Lease of \`db\` extended by alice, who no longer held it. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms) and B be bob's grant 2 (from 11 ms). Then bob was granted B at 11 ms. However, alice's renew under A was handled at 12 ms and extended B."`,
  );
});

test('a renew that arrives after a later release and revives the grant breaks the claim', () => {
  const breach = breachOf('renew-live', [
    grant(0, 'alice', 1),
    release(5, 'alice', 1),
    renew(6, 'alice', 1, { sentAtUs: 4000 }),
  ]);
  expect(breach.rule).toBe('undid-release');
  expect(breach.evidence).toEqual(['0 grant', '1 release', '2 renewal']);
  expect(breach.words).toMatchInlineSnapshot(
    `"Release of \`db\` undone by a renew. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms). Then A was released at 5 ms. However, alice's renew, sent at 4 ms, was handled at 6 ms and extended A."`,
  );
});

test('of several releases, the first one ended the grant', () => {
  const again = release(5.5, 'alice', 1, { message: 'alice/1/release/2/request' });
  const renewal = renew(6, 'alice', 1, { sentAtUs: 4000 });
  const breach = breachOf('renew-live', [
    grant(0, 'alice', 1),
    release(5, 'alice', 1),
    again,
    renewal,
  ]);
  expect(breach.words).toContain('Then A was released at 5 ms.');
});

test('a renew in time does not exercise the claim', () => {
  const events = [grant(0, 'alice', 1), renew(5, 'alice', 1), renew(14, 'alice', 1)];
  expect(verdictOn('renew-live', events)).toMatchObject({ kind: 'valid', exercised: 0 });
});
