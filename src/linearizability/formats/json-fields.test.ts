/** Tests how a JSON object is read as fields: exact numbers, and the position of errors. */
import { describe, expect, test } from 'vitest';
import { decimalOf, readJsonFields, scaleUp } from './json-fields.ts';

const brackets = (count: number): string => `{"a":${'['.repeat(count)}${']'.repeat(count)}}`;

describe('an object', () => {
  test.each([
    ['{}', {}],
    ['{"a": 1, "b": [null, {"a": "x"}]}', { a: 1, b: [null, { a: 'x' }] }],
    ['{"a": "b\\": 1", "b": 2}', { a: 'b": 1', b: 2 }],
    ['{"a": {"a": 1}, "b": {"a": 2}}', { a: { a: 1 }, b: { a: 2 } }],
    ['{"a": "\\":", "b": [{"a": 1}, {"a": 1}]}', { a: '":', b: [{ a: 1 }, { a: 1 }] }],
  ])('%s is read', (text, fields) => {
    expect(readJsonFields(text)).toEqual({ kind: 'fields', fields });
  });
  test('may nest brackets up to a hundred levels, with any number side by side', () => {
    expect(readJsonFields(brackets(99)).kind).toBe('fields');
    expect(readJsonFields(`{"a":[${'[],{},'.repeat(200)}1]}`).kind).toBe('fields');
    expect(readJsonFields(`{"a":"${'[{'.repeat(200)}"}`).kind).toBe('fields');
  });
});

describe('a number', () => {
  test.each([
    ['1', 1],
    ['-0.5', -0.5],
    ['1e3', 1000],
    ['9007199254740991', 9_007_199_254_740_991],
    ['9007199254740992', '9007199254740992'],
    ['-9007199254740993', '-9007199254740993'],
    ['0.1000000000000000', 0.1],
    ['0.30000000000000004', 0.300_000_000_000_000_04],
    ['0.10000000000000001', '0.10000000000000001'],
    ['1.0000000000000000', 1],
    ['1e100', 1e100],
    ['12.5e-100', 12.5e-100],
    ['1e+309', '1e+309'],
    ['1e-400', '1e-400'],
    ['1e401', '1e401'],
    ['"9007199254740992"', '9007199254740992'],
  ])('%s is read exactly or remains a text', (text, value) => {
    expect(readJsonFields(`{"a":${text}}`)).toEqual({ kind: 'fields', fields: { a: value } });
  });
  test.each([
    ['12', 12n, 0],
    ['-1.50', -150n, 2],
    ['1.5e1', 15n, 0],
    ['1.5e3', 1500n, 0],
    ['1e-3', 1n, 3],
    ['1e-400', 1n, 400],
    ['-2e2', -200n, 0],
  ])('%s has an exact decimal form', (text, digits, places) => {
    expect(decimalOf(text)).toEqual({ digits, places });
  });
  test.each(['', 'x1', '1x', '1e401', '1e-401', '+1', '.5', '1.'])('%j is not a number', (text) => {
    expect(decimalOf(text)).toBeNull();
  });
  test('is scaled up by digits', () => {
    expect(scaleUp(-12n, 3)).toBe(-12_000n);
    expect(scaleUp(7n, 0)).toBe(7n);
  });
});

describe('a text that is not an object is refused at the position of the error', () => {
  test.each([
    ['[1]', 0, 'expected an object, {"process": …}'],
    ['null', 0, 'expected an object, {"process": …}'],
    ['{"a":1,"b":2,"a":3}', 13, 'duplicate key "a" in this object'],
    ['{"b":[{"a":1,"a":3}]}', 13, 'duplicate key "a" in this object'],
    ['{"a":1,"\\u0061":3}', 7, 'duplicate key "a" in this object'],
    ['{"a":1', 6, 'this JSON ends too early: it is truncated'],
    ['{"a":"b', 7, 'this JSON ends too early: it is truncated'],
    ['{"a":1}}', 7, 'not JSON: unexpected "}"'],
    ['{"a":x1}', 5, 'not JSON: unexpected "x"'],
    [brackets(100), 104, 'brackets nested more than 100 levels deep'],
  ])('%s', (text, offset, what) => {
    expect(readJsonFields(text)).toEqual({ kind: 'malformed', offset, what });
  });
});
