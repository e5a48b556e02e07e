import { expect, test } from 'vitest';
import { breachOf, fault, grant, read, verdictOn, write } from './trace-builder.fixture.ts';

const delayed = fault(9, 'delay', 'alice', {
  processes: ['alice', 'store'],
  target: 'alice/1/write/1/request',
  amount: 5000,
});
const seen = [grant(0, 'alice', 1), delayed, grant(11, 'bob', 2), read(12, 'bob', 2, 0)];

test('a store whose reads register refuses an older write that arrives later', () => {
  const events = [...seen, write(14, 'alice', 1, 1, { isAccepted: false })];
  expect(verdictOn('read-fence', events)).toMatchObject({ kind: 'valid', exercised: 1 });
});

test('an accepted older write after a read invalidates the value that was read', () => {
  const breach = breachOf('read-fence', [...seen, write(14, 'alice', 1, 1)]);
  expect(breach.rule).toBe('write-after-read');
  expect(breach.evidence).toEqual([
    '0 earlier grant',
    '1 delay',
    '2 later grant',
    '3 later read',
    '4 stale write',
  ]);
  expect(breach.words).toMatchInlineSnapshot(
    `"Write accepted by \`store\` after a later holder had read. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms) and B be bob's grant 2 (from 11 ms). Then bob read 0 from \`x\` with token 2 at 12 ms. However, alice's write of 1 to \`x\` came with token 1 at 14 ms, and the store accepted it although bob had already read \`x\`: alice's write came 5 ms late."`,
  );
});

test('an announcement changes nothing, and a refused read sees nothing', () => {
  expect(verdictOn('read-fence', [...seen, write(14, 'alice', 1, null)]).kind).toBe('valid');
  const unserved = [
    grant(0, 'alice', 1),
    grant(11, 'bob', 2),
    read(12, 'bob', 2, null),
    write(14, 'alice', 1, 1),
  ];
  expect(verdictOn('read-fence', unserved)).toMatchObject({ kind: 'valid', exercised: 0 });
});
