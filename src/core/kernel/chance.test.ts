import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Chance, draws, randomOf } from './chance.ts';
import { nameOf } from './name.ts';

const NAMES = ['alice/1/write/1/request', 'bob/2/acquire/1/reply', 'alice/1/backoff'];

describe('chance', () => {
  test('draws the same numbers in every version', () => {
    const drawn = [0, 1, 2 ** 53 - 1].map((seed) => {
      const chance = new Chance(seed);
      return NAMES.map((name) => chance.bits(nameOf(name), draws.latency));
    });
    expect(drawn).toMatchInlineSnapshot(`
      [
        [
          983606806,
          3147988772,
          2538874020,
        ],
        [
          361086882,
          533891623,
          264152292,
        ],
        [
          491838176,
          1072112885,
          3934849729,
        ],
      ]
    `);
    const chance = new Chance(7);
    const all = Object.values(draws).map((draw) => chance.bits(nameOf('alice/1/think'), draw));
    expect(all).toMatchInlineSnapshot(`
      [
        2334032875,
        2780500877,
        387581708,
        3950520288,
        2764899188,
        2833779848,
        1088585736,
        3279799854,
        2328207583,
        1631807408,
        1224603745,
      ]
    `);
  });

  test('a draw depends on the seed and the name alone, not on what was drawn before', () => {
    const names = fc.array(fc.string(), { maxLength: 5 });
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.string(), names, (seed, text, before) => {
        const busy = new Chance(seed);
        for (const other of before) busy.bits(nameOf(other), draws.tie);
        const name = nameOf(text);
        expect(busy.bits(name, draws.delay)).toBe(new Chance(seed).bits(name, draws.delay));
      }),
    );
  });

  test('seeds, names and kinds of draw give different numbers', () => {
    const numbers = new Set<number>();
    for (let seed = 0; seed < 20; seed += 1) {
      const chance = new Chance(seed);
      for (const name of NAMES) {
        for (const draw of Object.values(draws)) numbers.add(chance.bits(nameOf(name), draw));
      }
    }
    expect(numbers.size).toBe(20 * NAMES.length * Object.values(draws).length);
  });

  test('a draw covers its range, in steps from the minimum', () => {
    const chance = new Chance(3);
    const drawn = new Set<number>();
    for (let at = 0; at < 200; at += 1) {
      const range = { minUs: 500, maxUs: 3100 };
      drawn.add(chance.within(nameOf(`message-${at}`), draws.latency, range, 1000));
    }
    expect([...drawn].sort((a, b) => a - b)).toEqual([500, 1500, 2500]);
    const fine = Array.from({ length: 200 }, (_, at) =>
      chance.within(nameOf(`m-${at}`), draws.latency, { minUs: 0, maxUs: 3 }),
    );
    expect([...new Set(fine)].sort((a, b) => a - b)).toEqual([0, 1, 2, 3]);
  });

  test('a range of one value draws that value', () => {
    const range = { minUs: 1000, maxUs: 1000 };
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(new Chance(1).within(nameOf(text), draws.delay, range)).toBe(1000);
      }),
    );
  });

  test('odds of 0 never happen, of 1 always, and of 1/4 in a quarter of the cases', () => {
    const chance = new Chance(11);
    const count = (numerator: number): number =>
      Array.from({ length: 4000 }, (_, at) => nameOf(`message-${at}`)).filter((name) =>
        chance.happens(name, draws.drop, { numerator, denominator: 4 }),
      ).length;
    expect(count(0)).toBe(0);
    expect(count(4)).toBe(4000);
    expect(count(1)).toBeGreaterThan(900);
    expect(count(1)).toBeLessThan(1100);
  });
});

describe('the random number of a name', () => {
  const names = Array.from({ length: 20_000 }, (_, at) =>
    nameOf(`alice/${at % 100}/acquire-${at}`),
  );
  const numbers = names.map((name) => randomOf(name, 'value'));

  test('is unique among the names of a long run, and a positive safe integer', () => {
    expect(new Set(numbers).size).toBe(names.length);
    expect(numbers.every((number) => Number.isSafeInteger(number) && number > 0)).toBe(true);
  });

  test('is always the same, and differs per label', () => {
    const name = nameOf('alice/1/acquire');
    expect(randomOf(name, 'value')).toBe(randomOf(name, 'value'));
    expect(randomOf(name, 'id')).not.toBe(randomOf(name, 'value'));
  });

  test('is in no order: about half are lower than the previous one', () => {
    const falls = numbers.filter((number, at) => number < (numbers[at - 1] ?? 0)).length;
    expect(falls / names.length).toBeGreaterThan(0.4);
    expect(falls / names.length).toBeLessThan(0.6);
  });
});
