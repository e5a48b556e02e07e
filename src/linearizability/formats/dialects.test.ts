/** Tests the meaning of a record in each model: the call that the checker gets, or the error. */
import { describe, expect, test } from 'vitest';
import type { Json } from '../../core/kernel/json.ts';
import { checkHistory } from '../check-history.ts';
import { detectModel } from './dialects.ts';
import { readHistory } from './formats.ts';
import type { RecordedOperation } from './record.ts';

type Fields = Readonly<Record<string, Json>>;

/** The fields of an `ok`, another type of completion, or no completion. */
type Answer = Fields | 'fail' | 'info' | 'none';

function lines(...records: readonly Fields[]): string {
  return records.map((one) => `${JSON.stringify(one)}\n`).join('');
}

/** Formats one call and its answer as JSON lines. */
function logOf(asked: Fields, answer: Answer): string {
  const invoke = { process: 'c', type: 'invoke', ...asked };
  if (answer === 'none') return lines(invoke);
  const end = typeof answer === 'string' ? { type: answer } : { type: 'ok', ...answer };
  return lines(invoke, { process: 'c', ...end });
}

/** Returns the call of the model, or the error. */
function meaning(model: string, asked: Fields, answer: Answer): unknown {
  const read = readHistory(logOf(asked, answer), { model });
  return read.kind === 'history' ? read.history[0]?.call : read.what;
}

const x = { key: 'x' };
const db = { lock: 'db', owner: 'c' };
const INTEGER_ARGUMENTS = 'a whole number below 2^53';

const ROWS: readonly (readonly [model: string, asked: Fields, answer: Answer, means: Json])[] = [
  ['register', { f: 'r', ...x }, { value: 4 }, { name: 'read', key: 'x', value: 4 }],
  ['register', { f: 'get' }, { value: [1, 'a'] }, { name: 'read', key: '', value: '[1 "a"]' }],
  ['register', { f: 'read' }, 'info', { name: 'read', key: '', value: null }],
  ['register', { f: 'read' }, {}, 'expected the value that was read'],
  ['register', { f: 'set', key: 7, value: 4 }, {}, { name: 'write', key: '7', value: 4 }],
  ['register', { f: 'w' }, {}, 'expected the value to write'],
  [
    'cas-register',
    { f: 'compareAndSet', value: [1, 2] },
    {},
    { name: 'cas', key: '', expected: 1, value: 2, answer: 'matched' },
  ],
  [
    'cas-register',
    { f: 'cas', from: 1, to: 2 },
    { answer: 'mismatch' },
    { name: 'cas', key: '', expected: 1, value: 2, answer: 'missed' },
  ],
  [
    'cas-register',
    { f: 'cas', expected: 1, new: 2 },
    { value: false },
    { name: 'cas', key: '', expected: 1, value: 2, answer: 'missed' },
  ],
  [
    'cas-register',
    { f: 'cas', expected: 1, new: 2 },
    'info',
    { name: 'cas', key: '', expected: 1, value: 2, answer: 'unknown' },
  ],
  [
    'cas-register',
    { f: 'cas', from: null, to: 2 },
    {},
    { name: 'cas', key: '', expected: null, value: 2, answer: 'matched' },
  ],
  ['cas-register', { f: 'cas', value: [1] }, {}, 'expected a pair as the value: [expected new]'],
  ['cas-register', { f: 'cas', from: 1 }, {}, 'expected a pair as the value: [expected new]'],
  ['cas-register', { f: 'r' }, { value: true }, { name: 'read', key: '', value: 'true' }],
  [
    'versioned-register',
    { f: 'read' },
    { value: 4, version: 2 },
    { name: 'read', key: '', value: 4, version: 2 },
  ],
  [
    'versioned-register',
    { f: 'read' },
    'none',
    { name: 'read', key: '', value: 'unknown', version: null },
  ],
  ['versioned-register', { f: 'read' }, { value: 4 }, `expected a version, ${INTEGER_ARGUMENTS}`],
  ['versioned-register', { f: 'read' }, {}, 'expected the value that was read'],
  [
    'versioned-register',
    { f: 'write', value: 4, expected: 1 },
    { version: 2 },
    { name: 'write', key: '', value: 4, version: 2, expected: 1 },
  ],
  [
    'versioned-register',
    { f: 'write', value: 4, expected: 1 },
    { answer: 'refused' },
    { name: 'write', key: '', value: 4, version: null, expected: 1, answer: 'refused' },
  ],
  [
    'versioned-register',
    { f: 'write', value: 4 },
    'info',
    { name: 'write', key: '', value: 4, version: null },
  ],
  [
    'versioned-register',
    { f: 'write', value: 4, expected: 1.5 },
    { version: 2 },
    `expected a version in "expected", ${INTEGER_ARGUMENTS}`,
  ],
  [
    'fenced-register',
    { f: 'write', value: 4, token: 3, resource: 'r', ...x },
    {},
    { name: 'write', key: 'x', value: 4, resource: 'r', token: 3, answer: 'accepted' },
  ],
  [
    'fenced-register',
    { f: 'write', value: 4, token: 3 },
    { answer: 'rejected' },
    { name: 'write', key: '', value: 4, resource: '', token: 3, answer: 'refused' },
  ],
  [
    'fenced-register',
    { f: 'read' },
    { value: 4, token: 3 },
    { name: 'read', key: '', value: 4, resource: '', token: 3 },
  ],
  [
    'fenced-register',
    { f: 'read', token: 3 },
    { answer: 'denied' },
    { name: 'read', key: '', value: 'refused', resource: '', token: 3 },
  ],
  [
    'fenced-register',
    { f: 'read', token: 3 },
    'info',
    { name: 'read', key: '', value: 'unknown', resource: '', token: 3 },
  ],
  [
    'fenced-register',
    { f: 'open', token: 3 },
    { answer: 'refused' },
    { name: 'open', resource: '', token: 3, answer: 'refused' },
  ],
  [
    'fenced-register',
    { f: 'write', value: 4, token: '3' },
    {},
    `expected a token, ${INTEGER_ARGUMENTS}`,
  ],
  ['fenced-register', { f: 'write', value: 4 }, {}, `expected a token, ${INTEGER_ARGUMENTS}`],
  ['fenced-register', { f: 'write', token: 4 }, {}, 'expected the value to write'],
  ['kv', { f: 'get', ...x }, { value: 4 }, { name: 'get', key: 'x', value: '4' }],
  ['kv', { f: 'get', ...x }, { value: null }, { name: 'get', key: 'x', value: null }],
  ['kv', { f: 'get', ...x }, 'info', { name: 'get', key: 'x', value: null }],
  ['kv', { f: 'get', ...x }, {}, 'expected the value that was read'],
  ['kv', { f: 'set', ...x, value: 'a' }, {}, { name: 'put', key: 'x', value: 'a' }],
  ['kv', { f: 'append', ...x, value: 'b' }, {}, { name: 'append', key: 'x', value: 'b' }],
  ['kv', { f: 'put', ...x, value: null }, {}, 'expected the value to write'],
  ['kv', { f: 'put', ...x }, {}, 'expected the value to write'],
  ['kv', { f: 'remove', ...x }, {}, { name: 'delete', key: 'x' }],
  [
    'kv',
    { f: 'cas', ...x, value: [null, 'a'] },
    {},
    { name: 'cas', key: 'x', expected: null, value: 'a', answer: 'matched' },
  ],
  [
    'kv',
    { f: 'cas', ...x, from: 1, to: 2 },
    { value: ':swapped' },
    { name: 'cas', key: 'x', expected: '1', value: '2', answer: 'matched' },
  ],
  ['kv', { f: 'cas', ...x, value: [1, null] }, {}, 'expected a pair as the value: [expected new]'],
  ['kv', { f: 'cas', ...x, from: 1 }, {}, 'expected a pair as the value: [expected new]'],
  ['counter', { f: 'inc' }, {}, { name: 'increment', key: '', by: 1 }],
  ['counter', { f: 'decr', value: 3 }, {}, { name: 'increment', key: '', by: -3 }],
  ['counter', { f: 'add', value: '3' }, {}, 'expected the number to add'],
  ['counter', { f: 'get' }, { value: 3 }, { name: 'read', key: '', value: 3 }],
  ['counter', { f: 'get' }, 'info', { name: 'read', key: '', value: 'unknown' }],
  ['counter', { f: 'get' }, { value: '3' }, 'expected a value: the number that was read'],
  ['mutex', { f: 'tryLock', value: 'db' }, {}, { name: 'acquire', ...db, answer: 'granted' }],
  [
    'mutex',
    { f: 'lock', key: 'db', owner: 7 },
    { answer: 'busy' },
    { name: 'acquire', lock: 'db', owner: '7', answer: 'denied' },
  ],
  ['mutex', { f: 'unlock', value: 'db' }, 'info', { name: 'release', ...db, answer: 'unknown' }],
  [
    'fenced-mutex',
    { f: 'acquire', value: 'db' },
    { fence: 4 },
    { name: 'acquire', ...db, answer: 'granted', token: 4 },
  ],
  [
    'fenced-mutex',
    { f: 'acquire', key: 'db' },
    { value: 4 },
    { name: 'acquire', ...db, answer: 'granted', token: 4 },
  ],
  [
    'fenced-mutex',
    { f: 'acquire', key: 'db' },
    { ok: false },
    { name: 'acquire', ...db, answer: 'denied', token: null },
  ],
  ['fenced-mutex', { f: 'acquire', key: 'db' }, {}, `expected a token, ${INTEGER_ARGUMENTS}`],
  [
    'fenced-mutex',
    { f: 'acquire', key: 'db' },
    { token: 1.5 },
    `expected a token, ${INTEGER_ARGUMENTS}`,
  ],
  ['fenced-mutex', { f: 'release', key: 'db' }, {}, { name: 'release', ...db, answer: 'released' }],
  [
    'semaphore',
    { f: 'acquire', key: 's', value: 2 },
    {},
    { name: 'acquire', semaphore: 's', permits: 2, answer: 'granted' },
  ],
  [
    'semaphore',
    { f: 'release', permits: 3, value: 2 },
    'info',
    { name: 'release', semaphore: '', permits: 3, answer: 'unknown' },
  ],
  [
    'semaphore',
    { f: 'acquire', key: 's' },
    {},
    { name: 'acquire', semaphore: 's', permits: 1, answer: 'granted' },
  ],
  ['semaphore', { f: 'acquire', value: 0 }, {}, 'expected permits, a whole number'],
  ['semaphore', { f: 'acquire', value: 1.5 }, {}, 'expected permits, a whole number'],
  ['semaphore', { f: 'acquire', value: 'two' }, {}, 'expected permits, a whole number'],
  [
    'lease',
    { f: 'extend', key: 'l', owner: 'a' },
    {},
    { name: 'renew', lease: 'l', owner: 'a', answer: 'renewed' },
  ],
  [
    'lease',
    { f: 'try-acquire', key: 'l' },
    { answer: ':refused' },
    { name: 'acquire', lease: 'l', owner: 'c', answer: 'denied' },
  ],
  ['lease', { f: 'expire', key: 'l' }, {}, { name: 'expire', lease: 'l' }],
];

describe('the name of the object', () => {
  const write = { f: 'write', value: 1 };
  const differs = 'the completion names the key y, but its call x';
  test.each([
    [{ ...write, key: 'x' }, {}, { key: 'x' }],
    [{ ...write, lock: 'x' }, { key: null }, { key: 'x' }],
    [write, { key: 'x' }, { key: 'x' }],
    [{ ...write, key: 7 }, { key: 7 }, { key: '7' }],
  ])('of %j, answered by %j, is %j', (asked, answer, means) => {
    expect(meaning('register', asked, answer)).toMatchObject(means);
  });
  test('must be the same in the completion', () => {
    expect(meaning('register', { ...write, key: 'x' }, { key: 'y' })).toBe(differs);
  });

  const paired = (f: string, asked: Json, answer: Json): unknown => {
    const text = logOf({ f, value: asked }, { f, value: answer });
    const read = readHistory(`[${text.trim().replace('\n', ',')}]`, { model: 'cas-register' });
    return read.kind === 'history' ? read.history[0]?.call : read.what;
  };
  test('must be the same in both pairs', () => {
    expect(paired('read', ['x', null], ['x', 5])).toMatchObject({ key: 'x', value: 5 });
    expect(paired('read', ['x', null], 5)).toMatchObject({ key: 'x', value: 5 });
    expect(paired('read', ['x', null], ['y', 5])).toBe(differs);
    const cas = { name: 'cas', key: 'x', expected: 1, value: 2 };
    expect(paired('cas', ['x', [1, 2]], [1, 2])).toMatchObject({ ...cas, answer: 'matched' });
    expect(paired('cas', ['x', [1, 2]], ['x', false])).toMatchObject({ ...cas, answer: 'missed' });
  });
});

test.each(ROWS)('the meaning in %s of %j, answered by %j, is %j', (model, asked, answer, means) => {
  expect(meaning(model, asked, answer)).toEqual(means);
});

describe('an answer', () => {
  const acquire = { f: 'acquire', key: 'db' };
  test.each([
    [{ answer: 'failed' }, 'unknown answer "failed"; known: granted'],
    [{ answer: 'deneid' }, 'unknown answer "deneid"; did you mean "denied"?'],
    [{ ok: 'no' }, 'unknown ok "no"'],
    [{ answer: 7 }, 'unknown answer "7"'],
    [{ answer: 'granted', ok: 'no' }, 'unknown ok "no"'],
  ])('that is unknown is refused: %j', (answer, what) => {
    expect(meaning('mutex', acquire, answer)).toContain(what);
  });

  test.each([
    [{}, 'granted'],
    [{ ok: true }, 'granted'],
    [{ answer: 'done' }, 'granted'],
    [{ value: 'locked' }, 'granted'],
    // A value that is not a known answer is data.
    [{ value: 'failed' }, 'granted'],
    [{ value: 'success' }, 'granted'],
    [{ ok: true, value: false }, 'denied'],
    [{ answer: 'denied', ok: true }, 'denied'],
    [{ value: ':rejected' }, 'denied'],
  ])('%j of an acquire means %s', (answer, means) => {
    expect(meaning('mutex', acquire, answer)).toMatchObject({ answer: means });
  });

  test('that repeats the value of the call does not count by its value', () => {
    const asked = { f: 'acquire', owner: 'a', key: 'db', value: false };
    expect(meaning('mutex', asked, { value: false })).toMatchObject({ answer: 'granted' });
  });

  test('to a register that always accepts cannot be negative', () => {
    expect(meaning('register', { f: 'write', value: 1 }, { ok: false })).toContain('unknown ok');
  });
});

describe('the initial state', () => {
  function beginning(model: string, f: string, initial: Json | undefined): unknown {
    const log = logOf({ f, key: 'x', value: 1 }, { value: 1, token: 1, answer: null });
    const read = readHistory(log, { model, ...(initial === undefined ? {} : { initial }) });
    return read.kind === 'history' ? read.model.init : read.what;
  }
  test.each([
    ['register', 'write', 5, 5],
    ['register', 'write', undefined, null],
    ['kv', 'put', 5, '5'],
    ['kv', 'put', undefined, ''],
    ['kv', 'put', null, null],
    ['counter', 'add', 5, 5],
    ['counter', 'add', undefined, 0],
    ['counter', 'add', '5', '--init for counter: expected a number'],
    ['mutex', 'acquire', 5, '--init for mutex: it always begins free'],
    ['semaphore', 'acquire', 0, '--init for semaphore: expected a whole number of permits'],
    ['semaphore', 'acquire', 1.5, '--init for semaphore: expected a whole number of permits'],
    ['semaphore', 'acquire', '2', '--init for semaphore: expected a whole number of permits'],
  ])('of a %s (%s), given %j, is %j', (model, f, initial, means) => {
    expect(beginning(model, f, initial)).toEqual(means);
  });

  test('of a semaphore is the number of permits, 1 by default', () => {
    const two = logOf({ f: 'acquire', key: 's', value: 2 }, {});
    for (const [initial, kind] of [
      [undefined, 'invalid'],
      [1, 'invalid'],
      [2, 'valid'],
    ] as const) {
      const options = { model: 'semaphore', ...(initial === undefined ? {} : { initial }) };
      const read = readHistory(two, options);
      if (read.kind !== 'history') throw new Error(read.what);
      expect(checkHistory(read.history, read.model).kind).toBe(kind);
    }
  });
});

describe('the inferred model', () => {
  function modelOf(...records: readonly (readonly [asked: Fields, answered: Fields])[]): unknown {
    const text = lines(
      ...records.flatMap(([asked, answered], process) => [
        { process, type: 'invoke', ...asked },
        { process, type: 'ok', ...answered },
      ]),
    );
    const read = readHistory(text);
    return read.kind === 'history' ? read.model.name : read.what;
  }
  const write = [{ f: 'write', value: 1 }, {}] as const;
  const acquire = [{ f: 'acquire', key: 'db' }, {}] as const;
  test.each([
    ['register', [write]],
    ['register', [write, [{ f: 'read' }, { value: 1 }]]],
    ['kv', [[{ f: 'put', key: 'x', value: 1 }, {}]]],
    ['kv', [write, [{ f: 'get' }, { value: 1 }]]],
    ['kv', [[{ f: 'append', key: 'x', value: 1 }, {}]]],
    ['cas-register', [write, [{ f: 'cas', value: [1, 2] }, {}]]],
    ['versioned-register', [[{ f: 'write', value: 1 }, { version: 1 }]]],
    ['fenced-register', [[{ f: 'write', value: 1, token: 1 }, {}]]],
    ['fenced-register', [[{ f: 'open', token: 1 }, {}]]],
    [
      'fenced-register',
      [
        [{ f: 'read', token: 3 }, { value: null }],
        [{ f: 'write', value: 1, token: 4 }, {}],
        [{ f: 'write', value: 1, token: 2 }, { answer: 'refused' }],
      ],
    ],
    [
      'fenced-register-with-reads',
      [
        [{ f: 'read', token: 3 }, { value: null }],
        [{ f: 'write', value: 1, token: 2 }, { answer: 'refused' }],
      ],
    ],
    ['fenced-register-with-reads', [[{ f: 'read', token: 3 }, { answer: 'refused' }]]],
    ['counter', [[{ f: 'inc' }, {}]]],
    ['mutex', [acquire]],
    ['fenced-mutex', [[{ f: 'acquire', key: 'db' }, { token: 1 }]]],
    ['lease', [acquire, [{ f: 'renew', key: 'db' }, {}]]],
  ] as const)('is %s', (model, records) => {
    expect(modelOf(...records)).toBe(model);
  });

  test('is absent if each model knows only some of the operations', () => {
    expect(modelOf(write, acquire)).toBe(
      'no model has all of the operations write, acquire; choose one with --model',
    );
  });
});

test('no model is inferred from an empty log or from unknown operations', () => {
  const place = { line: 1, column: 1 };
  const ends = {
    outcome: 'ok',
    invoke: 1,
    return: 2,
    invokedAt: place,
    returnedAt: place,
  } as const;
  const said = (...words: readonly string[]): readonly RecordedOperation[] =>
    words.map((f) => ({ process: 'c', f, asked: {}, answered: {}, ...ends }));
  expect(
    [[], ['dance'], ['read', 'dance'], ['read', 'write']].map((f) => detectModel(said(...f))),
  ).toEqual([null, null, null, 'register']);
});
