import { describe, expect, it } from 'vitest';
import { Integers } from './integers.ts';

function filled(count: number): Integers {
  const integers = new Integers();
  for (let value = 0; value < count; value++) integers.push(value);
  return integers;
}

describe('a list of integers', () => {
  it('grows by a factor of two, and reports the bytes that this takes', () => {
    const integers = filled(64);
    expect([integers.length, integers.bytes, integers.bytesToHold(64)]).toEqual([64, 256, 0]);
    expect([integers.bytesToHold(65), integers.bytesToHold(1_000)]).toEqual([512, 4_000]);
    integers.push(64);
    expect([integers.length, integers.bytes, integers.get(64)]).toEqual([65, 512, 64]);
    expect(integers.toArray()).toEqual(Array.from({ length: 65 }, (_, value) => value));
  });
  it('grows by a quarter once it is large', () => {
    const integers = new Integers();
    integers.reserve(1 << 20);
    expect(integers.bytesToHold((1 << 20) + 1)).toBe(4 << 21);
    integers.reserve(1 << 21);
    expect(integers.bytesToHold((1 << 21) + 1)).toBe(5 << 21);
  });
  it('keeps its values when it reserves memory, and its memory when it is cleared', () => {
    const integers = filled(3);
    integers.reserve(64);
    expect(integers.bytes).toBe(256);
    integers.reserve(65);
    expect([integers.toArray(), integers.bytes]).toEqual([[0, 1, 2], 512]);
    integers.clear();
    expect([integers.toArray(), integers.bytes, integers.get(2)]).toEqual([[], 512, 2]);
  });
  it('returns its last value, and 0 beyond the values that were set', () => {
    const integers = filled(3);
    expect([integers.pop(), integers.pop(), integers.length]).toEqual([2, 1, 1]);
    expect([integers.get(60), integers.get(1_000)]).toEqual([0, 0]);
    integers.set(0, 7);
    expect(integers.toArray()).toEqual([7]);
  });
  it('is filled entirely, or only at its end', () => {
    const integers = filled(5);
    integers.reset(3, -1);
    expect([integers.toArray(), integers.bytes]).toEqual([[-1, -1, -1], 256]);
    integers.extend(5, 4);
    expect(integers.toArray()).toEqual([-1, -1, -1, 4, 4]);
    integers.extend(70, 9);
    expect([integers.length, integers.get(0), integers.get(69)]).toEqual([70, -1, 9]);
    integers.reset(200, 6);
    expect([integers.bytes, integers.get(0), integers.get(199)]).toEqual([800, 6, 6]);
  });
  it('hands over its memory', () => {
    const integers = filled(70);
    expect([...integers.take()]).toEqual(filled(70).toArray());
    expect([integers.length, integers.bytes]).toEqual([0, 256]);
  });
});
