import { expect, test } from 'vitest';
import { breachOf, fault, grant, recovered, verdictOn, write } from './trace-builder.fixture.ts';

const second = { issue: 2, operation: 'alice/1/write-2' };

test('a store that refuses the overtaken write keeps the issue order', () => {
  const events = [
    grant(0, 'alice', 1),
    write(3, 'alice', 1, 2, second),
    write(5, 'alice', 1, 1, { isAccepted: false }),
  ];
  expect(verdictOn('holder-order', events)).toMatchObject({ kind: 'valid', exercised: 1 });
});

test('an accepted overtaken write breaks the issue order', () => {
  const breach = breachOf('holder-order', [
    grant(0, 'alice', 1),
    fault(2, 'reset', 'alice', { processes: ['alice', 'store'] }),
    write(3, 'alice', 1, 2, second),
    write(5, 'alice', 1, 1),
  ]);
  expect(breach.rule).toBe('issue-order');
  expect(breach.evidence).toEqual(['0 grant', '1 reset', '2 newer write', '3 older write']);
  expect(breach.words).toMatchInlineSnapshot(
    `"Writes of one grant applied out of order by \`store\`. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms). Then alice wrote 2 to \`x\` with token 1 at 3 ms. However, alice's write of 1 to \`x\` came with token 1 at 5 ms, and the store accepted it, although it had been issued earlier under A: the connections between alice and \`store\` were replaced at 2 ms."`,
  );
});

test('an accepted duplicate is applied twice', () => {
  const breach = breachOf('holder-order', [
    grant(0, 'alice', 1),
    write(1, 'alice', 1, 1),
    write(3, 'alice', 1, 2, second),
    fault(5, 'duplicate', 'alice', { target: 'alice/1/write/1/request', amount: 4000 }),
    write(5, 'alice', 1, 1),
  ]);
  expect(breach.rule).toBe('applied-twice');
  expect(breach.evidence).toEqual(['0 grant', '1 first time', '3 duplicate', '4 second time']);
  expect(breach.words).toMatchInlineSnapshot(
    `"Write applied twice by \`store\`. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms). Then alice wrote 1 to \`x\` with token 1 at 1 ms. However, \`alice/1/write/1/request\` was handled again at 5 ms, and the store accepted it: alice's write was executed again 4 ms later."`,
  );
});

test('a refused duplicate exercises the claim', () => {
  const again = write(5, 'alice', 1, 1, { isAccepted: false });
  const events = [grant(0, 'alice', 1), write(1, 'alice', 1, 1), again];
  expect(verdictOn('holder-order', events)).toMatchObject({ kind: 'valid', exercised: 1 });
});

test('a write may be applied again if a recovery lost it, but not if the recovery kept it', () => {
  const again = write(6, 'alice', 1, 2, second);
  const written = [grant(0, 'alice', 1), write(1, 'alice', 1, 1), write(3, 'alice', 1, 2, second)];
  const lost = [...written, recovered(5, 1, { x: 1 }), again];
  expect(verdictOn('holder-order', lost).kind).toBe('valid');
  expect(breachOf('holder-order', [...lost, write(7, 'alice', 1, 2, second)]).rule).toBe(
    'applied-twice',
  );
  const kept = [...written, recovered(5, 1, { x: 2 }), again];
  expect(breachOf('holder-order', kept).rule).toBe('applied-twice');
});
