import { describe, expect, test } from 'vitest';
import type { TraceEvent } from '../core/history/events.ts';
import { Defect } from '../core/kernel/assert.ts';
import { explain } from './explain.ts';
import { inWords } from './in-words.fixture.ts';
import type { ModelDefinition } from './store-models.ts';
import {
  accepted,
  answer,
  breachOf,
  grant,
  invoke,
  read,
  traceOf,
  unknown,
  verdictOn,
  write,
} from './trace-builder.fixture.ts';

const refused = { kind: 'refused', highest: 2 } as const;

/** Alice's write under grant 1 comes after Bob's under grant 2. */
function zombie(isAccepted: boolean): readonly TraceEvent[] {
  return [
    grant(0, 'alice', 1),
    grant(12, 'bob', 2),
    invoke(14, 'bob/2/write', { value: 2 }),
    write(15, 'bob', 2, 2),
    accepted(16, 'bob/2/write'),
    invoke(20, 'alice/1/write', { value: 1 }),
    write(21, 'alice', 1, 1, { isAccepted }),
    answer(22, 'alice/1/write', isAccepted ? { kind: 'accepted' } : refused),
  ];
}

test('a store that refuses the lower token answers as a fenced register does', () => {
  expect(verdictOn('linearizable', zombie(false))).toMatchObject({ kind: 'valid', exercised: 1 });
});

test('a store that accepts the lower token is a register, but not a fenced register', () => {
  const breach = breachOf('linearizable(fenced-register)', zombie(true));
  expect(breach.rule).toBe('no-order');
  expect(breach.evidence).toEqual([
    '0 earlier grant',
    '1 later grant',
    '3 previous write',
    '5 call',
    '6 handling',
    '7 return',
  ]);
  expect(breach.words).toMatchInlineSnapshot(
    `"No order explains the answer to \`alice/1/write\`. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms) and B be bob's grant 2 (from 12 ms). Then bob wrote 2 to \`x\` with token 2 at 15 ms. However, alice's write of 1 to \`x\`, sent with token 1 at 20 ms, arrived at 21 ms, and its answer, \`accepted\`, is possible at no point between the call and its return."`,
  );
  expect(verdictOn('linearizable(register)', zombie(true)).kind).toBe('valid');
});

test('a breach of a user’s own model is worded like the claim without a model', () => {
  const verdict = verdictOn('linearizable(fenced-register)', zombie(true));
  if (verdict.kind !== 'invalid') throw new Error('the claim holds');
  const wordsFor = (claim: string): string =>
    inWords(explain(traceOf(zombie(true)), { ...verdict, claim }));
  expect(wordsFor('linearizable(mine)')).toBe(wordsFor('linearizable'));
  expect(wordsFor('linearizable(mine)')).toMatch(/^No order explains the answer/);
  expect(wordsFor('lin(mine)')).toBe(wordsFor('linearizable'));
});

test('a write without an answer may have happened or not', () => {
  const events = zombie(true).map((event) =>
    event.kind === 'return' && event.process === 'alice' ? unknown(22, 'alice/1/write') : event,
  );
  expect(verdictOn('linearizable', events).kind).toBe('valid');
});

function readOf(value: number): readonly TraceEvent[] {
  return [
    invoke(30, 'bob/2/read'),
    read(31, 'bob', 2, value, { issue: 2 }),
    answer(32, 'bob/2/read', { kind: 'value', value }),
  ];
}

test('a read that misses the last write fits no register', () => {
  const last = [...zombie(true), ...readOf(1)];
  expect(verdictOn('linearizable(register)', last).kind).toBe('valid');
  expect(breachOf('linearizable(register)', [...zombie(true), ...readOf(2)]).rule).toBe('no-order');
});

test('a fenced register with reads refuses a lower token after a read', () => {
  const seen = [grant(0, 'alice', 1), grant(12, 'bob', 2), ...readOf(0)];
  const late = [
    invoke(40, 'alice/1/write', { value: 1 }),
    write(41, 'alice', 1, 1),
    accepted(42, 'alice/1/write'),
  ];
  expect(verdictOn('linearizable(fenced-register)', [...seen, ...late]).kind).toBe('valid');
  expect(verdictOn('linearizable(fenced-register-with-reads)', [...seen, ...late]).kind).toBe(
    'invalid',
  );
});

/** Both clients read 0, write 1 and get an acknowledgement; then Carol reads `seen`. */
function counted(seen: number): readonly TraceEvent[] {
  return [
    ...['alice/1', 'bob/2'].flatMap((section) => [
      invoke(1, `${section}/read`),
      answer(2, `${section}/read`, { kind: 'value', value: 0 }),
      invoke(3, `${section}/write`, { value: 1, adds: 1 }),
    ]),
    accepted(5, 'alice/1/write'),
    accepted(6, 'bob/2/write'),
    invoke(10, 'carol/3/read'),
    answer(11, 'carol/3/read', { kind: 'value', value: seen }),
  ];
}

test('a counter that counts both increments is linearizable, and one that lost one is not', () => {
  expect(verdictOn('linearizable(counter)', counted(2))).toMatchObject({ kind: 'valid' });
  const breach = breachOf('linearizable(counter)', counted(1));
  expect(breach.rule).toBe('no-order');
  expect(breach.words).toMatchInlineSnapshot(
    `"No order explains the answer to \`carol/3/read\`. Then nothing had been written. However, carol called at 10 ms, and its answer, the value 1, is possible at no point between the call and its return."`,
  );
});

test('a search that exceeds its budget leaves the claim unknown', () => {
  const overlapping = ['alice/1', 'bob/2', 'carol/3'].map((section, place) =>
    invoke(1, `${section}/write`, { value: place }),
  );
  const events = [
    ...overlapping,
    accepted(5, 'alice/1/write'),
    accepted(5, 'bob/2/write'),
    accepted(5, 'carol/3/write'),
    ...readOf(1),
  ];
  expect(verdictOn('linearizable(register)', events)).toMatchObject({
    kind: 'valid',
    exercised: 2,
  });
  expect(verdictOn('linearizable(register)', events, { maxConfigurations: 1 })).toMatchObject({
    kind: 'unknown',
    reason: 'the search reached 1 configurations without a result',
  });
});

test('a refused write leaves a register unchanged', () => {
  const events = [...zombie(false), ...readOf(2)];
  expect(verdictOn('linearizable(register)', events).kind).toBe('valid');
});

/** Two overlapping writes expect version 0; Alice's is applied before Bob's arrives. */
const RACE: readonly TraceEvent[] = [
  invoke(1, 'alice/1/write', { value: 1, version: 0 }),
  invoke(2, 'bob/2/write', { value: 2, version: 0 }),
  write(3, 'alice', 1, 1),
  write(4, 'bob', 2, 2, {
    isAccepted: false,
    refusal: { kind: 'version' },
  }),
  answer(5, 'alice/1/write', { kind: 'accepted', version: 1 }),
  answer(6, 'bob/2/write', { kind: 'refused', highest: 0, version: 1 }),
];

test.each([
  ['register', 1],
  ['counter', 1],
  ['versioned-register', 2],
  ['cas-register', 2],
])('%s counts overlaps, and stale versions if it has any', (model, count) => {
  expect(verdictOn('linearizable', RACE, { model }).exercised).toBe(count);
});

test('the read of an increment is part of the increment, not a separate read', () => {
  const stale = [
    invoke(1, 'alice/1/write', { value: 1, adds: 1 }),
    accepted(2, 'alice/1/write'),
    invoke(3, 'bob/2/read'),
    answer(4, 'bob/2/read', { kind: 'value', value: 0 }),
  ];
  const increment = [invoke(5, 'bob/2/write', { value: 1, adds: 1 }), accepted(6, 'bob/2/write')];
  expect(verdictOn('linearizable(counter)', [...stale, ...increment]).kind).toBe('valid');
  expect(verdictOn('linearizable(counter)', stale).kind).toBe('invalid');
});

test('a store without a specification is not judged', () => {
  expect(verdictOn('linearizable', zombie(true), { model: null })).toEqual({
    kind: 'unknown',
    claim: 'linearizable',
    exercised: 0,
    reason: 'this store has no specification',
  });
});

describe('a user’s model', () => {
  const mine = { model: 'mine' };
  const throwing = (error: Error): ModelDefinition => ({
    about: 'mine',
    calls: 'register',
    model: {
      name: 'mine',
      init: 0,
      step: () => {
        throw error;
      },
    },
  });

  test('must be among the given models', () => {
    expect(verdictOn('linearizable', zombie(true), mine)).toEqual({
      kind: 'unknown',
      claim: 'linearizable',
      exercised: 0,
      reason: 'there is no model mine',
    });
  });

  test('leaves the claim unknown if it throws, but a defect of fencepost is not caught', () => {
    const judged = (error: Error): unknown =>
      verdictOn('linearizable', zombie(true), {
        ...mine,
        models: new Map([['mine', throwing(error)]]),
      });
    expect(judged(new Error('no such key'))).toEqual({
      kind: 'unknown',
      claim: 'linearizable',
      exercised: 0,
      reason: 'the model mine threw: no such key',
    });
    expect(() => judged(new Defect('this cannot be'))).toThrow(Defect);
  });
});
