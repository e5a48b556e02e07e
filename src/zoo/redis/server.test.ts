/** Tests a Redis node alone: its commands, and the end of its keys. */
import { describe, expect, test } from 'vitest';
import { LockNode } from './server.ts';

/** A node that holds key `db` with value 7, set at 0 with a ttl of 10. */
function held(): LockNode {
  const node = new LockNode();
  node.setIfAbsent('db', { value: 7, ttlUs: 10, nowUs: 0 });
  return node;
}

describe('SET NX PX', () => {
  test('sets only a key that does not exist', () => {
    const node = new LockNode();
    const set = (value: number): unknown => node.setIfAbsent('db', { value, ttlUs: 10, nowUs: 5 });
    expect(set(7)).toEqual({ value: 7, end: 15 });
    expect(set(8)).toBeNull();
    expect(node.entry('db', 5)).toEqual({ value: 7, end: 15 });
  });

  test('is denied exactly at the end of a key, and sets it right after', () => {
    const setAt = (nowUs: number): unknown =>
      held().setIfAbsent('db', { value: 8, ttlUs: 10, nowUs });
    expect(setAt(10)).toBeNull();
    expect(setAt(11)).toEqual({ value: 8, end: 21 });
  });

  test('is denied by its own value too, so a repeated attempt fails', () => {
    expect(held().setIfAbsent('db', { value: 7, ttlUs: 10, nowUs: 1 })).toBeNull();
  });
});

describe('a script that compares', () => {
  test('deletes its own value and leaves another', () => {
    const node = held();
    expect(node.delete('db', { ifValue: 8, nowUs: 1 })).toBeNull();
    expect(node.entry('db', 1)).not.toBeNull();
    expect(node.delete('db', { ifValue: 7, nowUs: 1 })).toEqual({ value: 7, end: 10 });
    expect(node.entry('db', 1)).toBeNull();
  });

  test('deletes no expired key', () => {
    expect(held().delete('db', { ifValue: 7, nowUs: 11 })).toBeNull();
  });

  test('extends only its own value, from now', () => {
    const node = held();
    expect(node.expire('db', { ifValue: 8, ttlUs: 10, nowUs: 4 })).toBeNull();
    expect(node.expire('db', { ifValue: 7, ttlUs: 10, nowUs: 4 })?.end).toBe(14);
    expect(node.expire('db', { ifValue: 7, ttlUs: 10, nowUs: 15 })).toBeNull();
  });
});

test('DEL and PEXPIRE affect a key with any value', () => {
  const node = held();
  expect(node.expire('db', { ifValue: null, ttlUs: 20, nowUs: 4 })?.end).toBe(24);
  expect(node.delete('db', { ifValue: null, nowUs: 4 })?.value).toBe(7);
  expect(node.delete('db', { ifValue: null, nowUs: 4 })).toBeNull();
});

test('a clock that is set forward ends a key, and set back restores it', () => {
  const node = held();
  expect(node.entry('db', 30)).toBeNull();
  expect(node.entry('db', 3)).not.toBeNull();
});

test('later changes do not affect a snapshot', () => {
  const node = held();
  const restore = node.snapshot();
  node.delete('db', { ifValue: 7, nowUs: 1 });
  restore();
  expect(node.entry('db', 1)).not.toBeNull();
  node.clear();
  restore();
  expect(node.forget('db')).toBe(true);
  expect(node.forget('db')).toBe(false);
});
