/**
 * Tests complete operations in the format of Porcupine's users: valid fields, and their meaning.
 */
import { describe, expect, test } from 'vitest';
import type { Json } from '../../core/kernel/json.ts';
import { beginsWithOperation, operations } from './operations.ts';
import type { RecordedOperation } from './record.ts';

type Fields = Readonly<Record<string, Json>>;

/** Returns the operations of a file with these records, or the first error. */
function read(...records: readonly Fields[]): readonly RecordedOperation[] | string {
  const found: RecordedOperation[] = [];
  const reader = operations.open((operation) => {
    found.push(operation);
    return null;
  });
  const wrong = reader.push(JSON.stringify(records)) ?? reader.end();
  return wrong === null ? found : wrong.what;
}

const get = { ClientId: 3, Input: ['get', 'x'], Call: 10, Return: 30 };

test('an operation is read with its position in the file', () => {
  expect(read({ ...get, Output: 'a' })).toEqual([
    {
      process: '3',
      f: 'get',
      asked: { key: 'x' },
      answered: { value: 'a' },
      outcome: 'ok',
      invoke: 10,
      return: 30,
      invokedAt: { line: 1, column: 2 },
      returnedAt: { line: 1, column: 2 },
    },
  ]);
});

describe('a field', () => {
  const inputs: readonly (readonly [Json, string, Fields])[] = [
    [['reset'], 'reset', {}],
    [['get', 'x'], 'get', { key: 'x' }],
    [['unlock', 'x'], 'unlock', { key: 'x' }],
    [['write', 4], 'write', { value: 4 }],
    [['put', 'x', '4'], 'put', { key: 'x', value: '4' }],
    [['cas', 'x', 1, 2], 'cas', { key: 'x', value: [1, 2] }],
    [['get', null], 'get', { key: null }],
    [{ op: 'put', Key: 'x', the_value: 4 }, 'put', { op: 'put', key: 'x', thevalue: 4 }],
    [{ f: ':put' }, 'put', { f: ':put' }],
    [{ op: 'a', f: 'b' }, 'a', { op: 'a', f: 'b' }],
  ];
  test.each(inputs)('Input %j is a call of %s with %j', (Input, f, asked) => {
    expect(read({ ...get, Input })).toMatchObject([{ f, asked }]);
  });
  const outputs: readonly (readonly [
    Fields,
    RecordedOperation['outcome'],
    number | null,
    Fields,
  ])[] = [
    [{}, 'ok', 30, {}],
    [{ Output: null }, 'ok', 30, { value: null }],
    [{ Output: [1] }, 'ok', 30, { value: [1] }],
    [{ Output: { Value: 4 } }, 'ok', 30, { value: 4 }],
    [{ Output: { ok: false } }, 'fail', 30, { ok: false }],
    [{ Output: { ok: true } }, 'ok', 30, { ok: true }],
    [{ Output: { unknown: true } }, 'info', null, { unknown: true }],
    [{ Output: { unknown: false } }, 'ok', 30, { unknown: false }],
    [{ Return: null }, 'info', null, {}],
    [{ Return: '9223372036854775807' }, 'info', null, {}],
  ];
  test.each(outputs)('%j results in %s at %s with %j', (change, outcome, end, answered) => {
    expect(read({ ...get, ...change })).toMatchObject([{ outcome, return: end, answered }]);
  });
  test('Return may be omitted', () => {
    const { Return: _, ...unheard } = get;
    const row = { outcome: 'info', return: null, returnedAt: null, answered: { value: 1 } };
    expect(read({ ...unheard, Output: 1 })).toMatchObject([row]);
  });
  test('ClientId may have another name or be omitted', () => {
    const { ClientId, ...anonymous } = get;
    expect(read({ ...anonymous, client_id: 'a' })).toMatchObject([{ process: 'a' }]);
    expect(read({ ...anonymous, client: ClientId })).toMatchObject([{ process: '3' }]);
    expect(read(anonymous)).toMatchObject([{ process: '0' }]);
  });
});

describe('a time', () => {
  const far = '1700000000000000000';
  const rows: readonly (readonly [Json, Json, number, number])[] = [
    [10, 30, 10, 30],
    ['10', '30.5', 10, 30.5],
    [-3.5, -1, -3.5, -1],
    ['1e3', 2000, 1000, 2000],
    ['0.0000000000005', 1, 0, 1],
    ['0.000000000002', 1, 2e-12, 1],
    [4_294_967_296, 4_294_967_297, 4_294_967_296, 4_294_967_297],
    [4_294_967_297, 4_294_967_299, 0, 2],
    [-4_294_967_296, 0, -4_294_967_296, 0],
    [-4_294_967_297, -4_294_967_296, 0, 1],
    [far, '1700000000000000007', 0, 7],
    [far, '1700000000000000007.25', 0, 7.25],
    [far, '1709007199254740991', 0, 9_007_199_254_740_991],
  ];
  test.each(rows)('from %s to %s is read as %d to %d', (Call, Return, invoke, end) => {
    expect(read({ ...get, Call, Return })).toMatchObject([{ invoke, return: end }]);
  });
  test('counts from the first time if that is large', () => {
    const second = { ...get, Call: '1700000000000000005', Return: '1700000000000000006' };
    expect(read({ ...get, Call: far, Return: far }, second)).toMatchObject([
      { invoke: 0, return: 0 },
      { invoke: 5, return: 6 },
    ]);
  });
});

describe('a malformed operation is refused', () => {
  const input = 'expected Input, {"op": "put", "key": "x", "value": "4"} or ["put", "x", "4"]';
  const time = 'within 2^53 of the first time';
  const call = `expected Call, the time of the call, ${time}`;
  const end = `expected Return, the time of the return, ${time}`;
  const rows: readonly (readonly [Fields, string])[] = [
    [{ Call: null }, call],
    [{ Call: 'soon' }, call],
    [{ Call: [1] }, call],
    [{ Call: `1${'0'.repeat(30)}` }, call],
    [{ Call: `-1${'0'.repeat(30)}` }, call],
    [{ Return: 'late' }, end],
    [{ Call: '1700000000000000000', Return: '1709007199254740992' }, end],
    [{ Return: 9 }, 'it returns before it is called'],
    [{ Input: 'get' }, input],
    [{ Input: [] }, input],
    [{ Input: [null, 'x'] }, input],
    [{ Input: { key: 'x' } }, input],
    [{ Input: null }, input],
  ];
  test.each(rows)('%j: %s', (change, what) => expect(read({ ...get, ...change })).toBe(what));
});

test.each([
  ['{"Input":{"op":"get"},"Call":1}', true],
  ['{"call":1,"input":[]} and more', true],
  ['{"Input":{"op":"}"},"Call":1}', true],
  ['{"Input":1}', false],
  ['{"Call":1}', false],
  ['{"Input":{"op":"get"},"Call":1', false],
  ['', false],
])('%s begins with an operation: %s', (text, isOne) => {
  expect(beginsWithOperation(text)).toBe(isOne);
});
