import { describe, expect, test } from 'vitest';
import { OptimisticTable } from './optimistic-table.ts';

const takeOne = { id: '123', set: { adds: -1 } } as const;

describe('a table of products', () => {
  test('changes a row only if an update names its version, and else reports 0 rows', () => {
    const products = new OptimisticTable({ first: { value: 10, version: 5 } });
    expect(products.read('123')).toEqual({ value: 10, version: 5 });
    const first = products.update({ ...takeOne, version: 5 });
    expect(first).toEqual({ kind: 'accepted', rows: 1, value: 9, version: 6 });
    const second = products.update({ ...takeOne, version: 5 });
    expect(second).toEqual({ kind: 'refused', rows: 0, value: 9, version: 6 });
    expect(products.update({ ...takeOne, version: 6 })).toMatchObject({ value: 8, version: 7 });
  });

  test('never goes below zero, and reports that as forbidden, not as a conflict', () => {
    const products = new OptimisticTable({ first: { value: 1, version: 5 } });
    products.update({ ...takeOne, version: 5 });
    const none = products.update({ ...takeOne, version: 6 });
    expect(none).toEqual({ kind: 'forbidden', rows: 0, value: 0, version: 6 });
  });
});

describe('a row that was never written', () => {
  test('has no version, which is not the version 0', () => {
    const table = new OptimisticTable();
    expect(table.read('x')).toEqual({ value: 0, version: null });
    const to = { id: 'x', set: { value: 7 } };
    expect(table.update({ ...to, version: 0 }).kind).toBe('refused');
    expect(table.update({ ...to, version: null })).toMatchObject({ kind: 'accepted', version: 1 });
    expect(table.update({ ...to, version: null }).kind).toBe('refused');
  });

  test('differs from a row that was changed at time 0', () => {
    const table = new OptimisticTable({ version: 'timestamp' });
    table.update({ id: 'x', set: { adds: 1 }, version: null, now: 0 });
    expect(table.update({ id: 'x', set: { adds: 1 }, version: null, now: 0 }).kind).toBe('refused');
  });
});

test('two changes in one tick have the same timestamp, so a third may follow either', () => {
  const table = new OptimisticTable({ version: 'timestamp' });
  table.update({ id: 'x', set: { value: 1 }, version: null, now: 3 });
  table.update({ id: 'x', set: { value: 2 }, version: 3, now: 3 });
  expect(table.update({ id: 'x', set: { value: 2 }, version: 3, now: 4 }).kind).toBe('accepted');
});

test('an update with a name is applied once', () => {
  const table = new OptimisticTable();
  const again = { id: 'x', set: { adds: 1 }, once: 'alice/1' };
  expect(table.update(again).kind).toBe('accepted');
  expect(table.update(again)).toEqual({ kind: 'repeated', rows: 0, value: 1, version: 1 });
});
