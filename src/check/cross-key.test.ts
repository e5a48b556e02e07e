import { expect, test } from 'vitest';
import type { Invoke, Read, TraceEvent, Write } from '../core/history/events.ts';
import {
  accepted,
  breachOf,
  grant,
  invoke,
  pause,
  read,
  recovered,
  verdictOn,
  write,
} from './trace-builder.fixture.ts';

function readBoth(
  ms: number,
  who: string,
  under: number,
  values: readonly [number, number],
): Read[] {
  return values.map((value, place) => {
    const label = place === 0 ? 'from' : 'to';
    const operation = `${who}/${under}/read-${label}`;
    return read(ms + place, who, under, value, { process: `store-${label}`, operation });
  });
}

function writeTo(
  ms: number,
  section: string,
  label: string,
  what: { readonly value: number; readonly adds: number | null },
): readonly [Invoke, Write] {
  const [who = '', under] = section.split('/');
  const operation = `${who}/${under}/write-${label}`;
  const store = `store-${label}`;
  return [
    invoke(ms - 0.1, operation, { store, ...what }),
    write(ms, who, Number(under), what.value, {
      process: store,
      operation,
      issue: 3,
      adds: what.adds,
    }),
  ];
}

const begun: readonly TraceEvent[] = [
  grant(0, 'alice', 1),
  ...readBoth(1, 'alice', 1, [0, 0]),
  ...writeTo(3, 'alice/1', 'from', { value: -5, adds: -5 }),
];

test('a transfer that ends within its lease conserves the sum', () => {
  const events = [
    ...begun,
    ...writeTo(4, 'alice/1', 'to', { value: 5, adds: 5 }),
    grant(12, 'bob', 2),
    ...readBoth(13, 'bob', 2, [-5, 5]),
    ...writeTo(15, 'bob/2', 'from', { value: -6, adds: -1 }),
    ...writeTo(16, 'bob/2', 'to', { value: 6, adds: 1 }),
  ];
  expect(verdictOn('cross-key', events)).toMatchObject({ kind: 'valid', exercised: 0 });
});

test('a second write after the lease keeps the sum if no client reads before it', () => {
  const events = [
    ...begun,
    grant(12, 'bob', 2),
    ...writeTo(13, 'alice/1', 'to', { value: 5, adds: 5 }),
  ];
  expect(verdictOn('cross-key', events)).toMatchObject({ kind: 'valid', exercised: 1 });
});

test('a holder paused between its two writes shows its successor half a transfer', () => {
  const breach = breachOf('cross-key', [
    ...begun,
    pause(3.5, 'alice', 20),
    grant(12, 'bob', 2),
    ...readBoth(13, 'bob', 2, [-5, 0]),
  ]);
  expect(breach.rule).toBe('sum-read');
  expect(breach.evidence).toEqual([
    '0 earlier grant',
    '4 write',
    '5 pause',
    '6 later grant',
    '7 read',
    '8 read',
  ]);
  expect(breach.words).toMatchInlineSnapshot(
    `"Transfer of \`x\` seen half done. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms) and B be bob's grant 2 (from 12 ms). Then alice wrote -5 to \`x\` with token 1 at 3 ms in \`store-from\`. However, bob read -5 from \`x\` with token 2 at 13 ms in \`store-from\` and bob read 0 from \`x\` with token 2 at 14 ms in \`store-to\`: alice was paused from 3.5 ms to 20 ms."`,
  );
});

test('half a transfer that is never completed is found at the end', () => {
  const breach = breachOf('cross-key', begun);
  expect(breach.rule).toBe('sum-at-end');
  expect(breach.words).toMatchInlineSnapshot(
    `"Transfer of \`x\` seen half done. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms). Then alice wrote -5 to \`x\` with token 1 at 3 ms in \`store-from\`. However, \`x\` was left with a sum that is not 0."`,
  );
});

test('one key in one store, and blind writes to two stores, are not a transfer', () => {
  const blind = [
    grant(0, 'alice', 1),
    ...writeTo(1, 'alice/1', 'from', { value: 1, adds: null }),
    ...writeTo(2, 'alice/1', 'to', { value: 2, adds: null }),
  ];
  expect(verdictOn('cross-key', blind)).toMatchObject({ kind: 'valid', exercised: 0 });
});

test('a section that transfers twice may read again after its own writes', () => {
  const events = [
    ...begun,
    ...writeTo(4, 'alice/1', 'to', { value: 5, adds: 5 }),
    ...readBoth(5, 'alice', 1, [-5, 5]),
    ...writeTo(7, 'alice/1', 'from', { value: -6, adds: -1 }),
    ...writeTo(8, 'alice/1', 'to', { value: 6, adds: 1 }),
  ];
  expect(verdictOn('cross-key', events).kind).toBe('valid');
});

test('a section that reads both stores and adds to one of them transfers nothing', () => {
  const events = [
    grant(0, 'alice', 1),
    ...readBoth(1, 'alice', 1, [0, 0]),
    ...writeTo(3, 'alice/1', 'from', { value: 1, adds: 1 }),
  ];
  expect(verdictOn('cross-key', events).kind).toBe('valid');
  const both = [...events, ...writeTo(4, 'alice/1', 'to', { value: 1, adds: 1 })];
  expect(verdictOn('cross-key', both).kind).toBe('valid');
  const blind = [...begun, ...writeTo(5, 'bob/2', 'to', { value: 9, adds: null })];
  expect(verdictOn('cross-key', blind).kind).toBe('valid');
});

test('a key that a transfer takes from is not judged as a counter of its store', () => {
  const forgotten = { ...recovered(5, 0, {}), process: 'store-from' };
  const events = [...begun, accepted(4, 'alice/1/write-from'), forgotten];
  expect(verdictOn('no-lost-update', events)).toMatchObject({ kind: 'valid', exercised: 0 });
});

test('a transfer of 0 that stops halfway is a transfer, too', () => {
  const again = { process: 'store-to', operation: 'alice/1/read-again' };
  const events = [
    grant(0, 'alice', 1),
    ...readBoth(1, 'alice', 1, [0, 0]),
    ...writeTo(3, 'alice/1', 'from', { value: 0, adds: 0 }),
    grant(12, 'bob', 2),
    read(13, 'alice', 1, 0, again),
  ];
  expect(verdictOn('cross-key', events)).toMatchObject({ kind: 'valid', exercised: 1 });
});

test('taking from a key of a single store is not a transfer', () => {
  const taken = { key: 'y', value: -1, adds: -1, operation: 'alice/1/write-y' };
  const events = [
    ...begun,
    ...writeTo(4, 'alice/1', 'to', { value: 5, adds: 5 }),
    invoke(5, taken.operation, { store: 'store-from', ...taken }),
    write(6, 'alice', 1, -1, { process: 'store-from', ...taken }),
  ];
  expect(verdictOn('cross-key', events)).toMatchObject({ kind: 'valid', exercised: 0 });
});

test('a section that was refused one of the two reads has not seen the sum', () => {
  const [found, refused] = readBoth(13, 'bob', 2, [-5, 0]);
  if (found === undefined || refused === undefined) throw new Error('bob reads from both');
  const late = writeTo(15, 'alice/1', 'to', { value: 5, adds: 5 });
  const events = (second: Read): readonly TraceEvent[] => [
    ...begun,
    grant(12, 'bob', 2),
    found,
    second,
    ...late,
  ];
  expect(breachOf('cross-key', events(refused)).rule).toBe('sum-read');
  const unseen = { ...refused, value: null, isAccepted: false };
  expect(verdictOn('cross-key', events(unseen)).kind).toBe('valid');
});
