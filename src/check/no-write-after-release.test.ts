import { expect, test } from 'vitest';
import {
  answer,
  breachOf,
  grant,
  invoke,
  read,
  release,
  verdictOn,
  write,
} from './trace-builder.fixture.ts';

const released = [
  grant(0, 'alice', 1),
  invoke(1, 'alice/1/write'),
  invoke(4, 'alice/1/release'),
  release(5, 'alice', 1),
  answer(6, 'alice/1/release', { kind: 'released' }),
];

test('a write that is refused after its release keeps the claim', () => {
  const events = [...released, write(8, 'alice', 1, 1, { isAccepted: false })];
  expect(verdictOn('no-write-after-release', events)).toMatchObject({
    kind: 'valid',
    exercised: 1,
  });
});

test('a write that is accepted after its client learned of the release breaks the claim', () => {
  const breach = breachOf('no-write-after-release', [...released, write(8, 'alice', 1, 1)]);
  expect(breach.rule).toBe('write-after-release');
  expect(breach.evidence).toEqual(['0 grant', '4 released', '5 late write']);
  expect(breach.words).toMatchInlineSnapshot(
    `"Write accepted by \`store\` after its lock was released. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms). Then alice learned at 6 ms that A was released. However, alice's write of 1 to \`x\`, sent with token 1 at 1 ms, arrived at 8 ms, and the store accepted it."`,
  );
});

test('a write that arrives before the answer to the release is in time', () => {
  const [first, second, third, fourth, fifth] = released;
  if (!first || !second || !third || !fourth || !fifth) throw new Error('the trace is too short');
  const events = [first, second, third, fourth, write(5.5, 'alice', 1, 1), fifth];
  expect(verdictOn('no-write-after-release', events)).toMatchObject({
    kind: 'valid',
    exercised: 0,
  });
});

test('a write after the first of two answers to a release breaks the claim', () => {
  const twice = [
    ...released,
    write(8, 'alice', 1, 1),
    invoke(9, 'alice/1/release-2'),
    release(10, 'alice', 1, { message: 'alice/1/release-2/1/request' }),
    answer(11, 'alice/1/release-2', { kind: 'released' }),
  ];
  expect(verdictOn('no-write-after-release', twice)).toMatchObject({
    kind: 'invalid',
    exercised: 1,
  });
});

test('a release without an answer, or with another answer, is not acknowledged', () => {
  const wrote = write(8, 'alice', 1, 1);
  const [granted, , , gone, fifth] = released;
  if (granted === undefined || gone === undefined || fifth === undefined) throw new Error();
  const called = invoke(4, 'alice/1/release');
  const empty = { ...answer(6, 'alice/1/release', { kind: 'released' }), answer: null };
  const refused = answer(6, 'alice/1/release', { kind: 'refused', highest: 0 });
  for (const events of [[], [called], [called, empty], [called, refused]]) {
    const verdict = verdictOn('no-write-after-release', [granted, ...events, gone, wrote]);
    expect(verdict).toMatchObject({ kind: 'valid', exercised: 0 });
  }
  const read = { ...wrote, value: null };
  expect(verdictOn('no-write-after-release', [...released, read])).toMatchObject({
    kind: 'valid',
    exercised: 0,
  });
});

test('a release and a write without a grant are not related', () => {
  const events = [
    invoke(1, 'alice/0/write'),
    invoke(4, 'alice/0/release'),
    release(5, 'alice', 0, { message: 'alice/0/release/1/request' }),
    answer(6, 'alice/0/release', { kind: 'released' }),
    write(8, 'alice', 0, 1),
  ];
  expect(verdictOn('no-write-after-release', events)).toMatchObject({
    kind: 'valid',
    exercised: 0,
  });
});

test('a read after the release is not a write', () => {
  const events = [...released, write(5.5, 'bob', 0, 7), read(8, 'alice', 1, 7)];
  const late = write(9, 'alice', 1, 8, { isAccepted: false });
  expect(verdictOn('no-write-after-release', events)).toMatchObject({ kind: 'valid' });
  expect(verdictOn('no-write-after-release', [...events, late])).toMatchObject({
    kind: 'valid',
    exercised: 1,
  });
});
