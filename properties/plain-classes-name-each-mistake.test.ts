/**
 * Laws of the classes that need no simulator, if their callers make mistakes: an invalid argument
 * throws, is named in the error, and changes no state. One table lists the arguments.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Cache, CacheLock, LeaseCache, LeaseTable, OptimisticTable } from '../src/index.ts';
import { LockClient, LockService, Store } from '../src/servers.ts';
import { type Kind, plainOf, type Row, rows } from './plain-classes.ts';

const isInteger = (value: unknown): value is number => Number.isSafeInteger(value);

/** Returns true if a caller may pass the value. */
const MAY_BE: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  name: (value) => typeof value === 'string' && value !== '',
  time: isInteger,
  count: (value) => isInteger(value) && value >= 0,
  length: (value) => isInteger(value) && value >= 1,
  token: Number.isInteger,
  timeout: (value) => isInteger(value) && (value >= 1 || value === -1),
  value: Number.isFinite,
  // None of the values below is valid.
  word: () => false,
  flag: (value) => typeof value === 'boolean',
  function: (value) => typeof value === 'function',
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  made: () => false,
  list: Array.isArray,
  json: (value) => typeof value !== 'bigint' && (!isNumber(value) || Number.isFinite(value)),
};

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

function canBe(kind: Row['kinds'][string], value: unknown): boolean {
  if (value === undefined) return kind.endsWith('?');
  if (value === null && kind.includes('|null')) return true;
  const plain = plainKind(kind);
  const known = Object.entries(MAY_BE).find(([name]) => name === plain);
  if (known === undefined) throw new Error(`there is no kind ${plain}`);
  return known[1](value);
}

function plainKind(kind: string): string {
  return kind.replace('|null', '').replace('?', '');
}

/** Kinds for which a number has the right type but may be out of range. */
const NUMERIC: ReadonlySet<string> = new Set<Kind>([
  'time',
  'count',
  'length',
  'token',
  'timeout',
  'value',
  'json',
]);

const wrong: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    Number.NaN,
    Infinity,
    -Infinity,
    -1,
    0,
    -2,
    0.5,
    1.5,
    2 ** 53,
    -(2 ** 53),
    '1',
    '',
    '10',
    'foo',
    'toString',
    undefined,
    null,
    true,
    false,
    {},
    [],
    [1],
    1n,
  ),
  fc.double(),
  fc.integer(),
  fc.string(),
);

const numbers = [Number.NaN, Infinity, -Infinity, -1, '1', undefined];

/** Returns the thrown value, or null. */
function thrownBy(call: () => unknown): unknown {
  try {
    call();
    return null;
  } catch (thrown) {
    return thrown;
  }
}

function expectRefused(row: Row, argument: string, value: unknown): void {
  const { look, call } = row.make();
  const before = structuredClone(look());
  const thrown = thrownBy(() => call({ ...row.good, [argument]: value }));
  const message = `${row.method} with ${argument} ${String(value)} (${typeof value})`;
  const isOfType = isNumber(value) && NUMERIC.has(plainKind(row.kinds[argument] ?? ''));
  const isEither = typeof value === 'string' && thrown instanceof RangeError;
  expect(thrown, message).toBeInstanceOf(isOfType || isEither ? RangeError : TypeError);
  expect(thrown, message).toMatchObject({
    message: expect.stringContaining(nameOf(row, argument)),
  });
  expect(structuredClone(look()), message).toEqual(before);
}

/** The name of an argument in its error. */
function nameOf({ method }: Row, argument: string): string {
  return method === 'new Store' && argument === 'kind' ? '' : argument;
}

describe.each(rows.map((row) => [row.method, row] as const))('%s', (_method, row) => {
  test('works with valid arguments', () => {
    expect(thrownBy(() => row.make().call({ ...row.good }))).toBeNull();
  });

  test('throws for invalid arguments, and changes no state', () => {
    for (const [argument, kind] of Object.entries(row.kinds)) {
      for (const value of numbers) {
        if (!canBe(kind, value)) expectRefused(row, argument, value);
      }
      const unmeant = wrong.filter((value) => !canBe(kind, value));
      const law = fc.property(unmeant, (value) => expectRefused(row, argument, value));
      fc.assert(law, { seed: 1, numRuns: 60 });
    }
  });

  const names = Object.entries(row.kinds).filter(([, kind]) => kind.startsWith('name'));
  test.runIf(names.length > 0)('treats the names of Object.prototype like any other name', () => {
    for (const [argument] of names) {
      const said = (name: string): string => {
        const { look, call } = row.make();
        const answers = [1, 2].map(() => plainOf(call({ ...row.good, [argument]: name })));
        return JSON.stringify([answers, plainOf(look())]).replaceAll(name, 'NAME');
      };
      for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
        expect(said(name), argument).toBe(said('ordinary'));
      }
    }
  });
});

/** Methods that are not called from outside, or have no arguments. */
const WITHOUT_ROW: ReadonlySet<string> = new Set([
  'constructor',
  'isFreeFor',
  'nextToken',
  'heldBy',
  'denial',
  'resetCounter',
  'snapshot',
  'save',
  'heed',
  'access',
  'servedBy',
  'requireValid',
  'register',
  'refuses',
  'scopeOf',
  'crash',
  'clear',
  'isAcquired',
  'newToken',
]);

test('the table has every public method', () => {
  const classes = [LockService, LockClient, Store, LeaseTable, LeaseCache, Cache, CacheLock];
  const known = rows.map(({ method }) => method.split(' by ')[0]);
  const missing = [...classes, OptimisticTable].flatMap((of) => [
    ...(known.includes(`new ${of.name}`) || of.length === 0 ? [] : [`new ${of.name}`]),
    ...Object.getOwnPropertyNames(of.prototype)
      .filter((name) => !WITHOUT_ROW.has(name) && !known.includes(`${of.name}.${name}`))
      .map((name) => `${of.name}.${name}`),
  ]);
  expect(missing).toEqual([]);
});
