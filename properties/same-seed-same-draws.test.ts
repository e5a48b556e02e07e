/**
 * Pins all draws: seeds that users noted and kept plans depend on these numbers. A change here is a
 * change of the format.
 */
import { expect, test } from 'vitest';
import { Chance, draws } from '../src/core/kernel/chance.ts';
import { nameOf, under } from '../src/core/kernel/name.ts';
import { Draw } from '../src/scenario/draw.ts';

const NAMES = ['alice', 'alice/1/write/1/request', 'ключ', ''];
const SEEDS = [0, 1, 4_242, Number.MAX_SAFE_INTEGER];

test('the hash of a name is a function of its text', () => {
  expect(NAMES.map((text) => nameOf(text).hash)).toMatchInlineSnapshot(`
    [
      -2027809817,
      -110843303,
      951388517,
      2166136261,
    ]
  `);
  expect(under(under(nameOf('alice'), '1'), 'write')).toEqual(nameOf('alice/1/write'));
});

test('the bits of a name are a function of the seed and of the draw’s label', () => {
  const bits = SEEDS.map((seed) => {
    const chance = new Chance(seed);
    return NAMES.map((text) => chance.bits(nameOf(text), draws.latency)).join(' ');
  });
  expect(bits).toMatchInlineSnapshot(`
    [
      "1135529155 983606806 698708775 2867737476",
      "860367948 361086882 3360049161 2959296930",
      "1420042991 1308566163 3140005140 3691218412",
      "3308428838 491838176 1649144230 4051283526",
    ]
  `);
  const chance = new Chance(1);
  const name = nameOf('alice/1/write');
  const each = Object.entries(draws).map(
    ([of, draw]) => `${of} ${draw} ${chance.bits(name, draw)}`,
  );
  expect(each).toMatchInlineSnapshot(`
    [
      "latency 1 739875777",
      "delay 2 4061254635",
      "delayLength 3 2511730954",
      "drop 4 1364225117",
      "duplicate 5 3305585703",
      "duplicateLength 6 2880358409",
      "late 7 667909136",
      "lateLength 8 2331033439",
      "jitter 9 1275266251",
      "tie 10 2933893456",
      "stream 11 1084639978",
    ]
  `);
});

test('a range, a step and odds give the pinned results', () => {
  const chance = new Chance(7);
  const names = ['alice', 'bob', 'carol', 'dave', 'erin'].map(nameOf);
  const range = { minUs: 1_000, maxUs: 9_000 };
  const odds = { numerator: 1, denominator: 3 };
  expect(names.map((name) => chance.within(name, draws.delay, range))).toMatchInlineSnapshot(`
    [
      3701,
      2613,
      3512,
      8655,
      5138,
    ]
  `);
  expect(
    names.map((name) => chance.within(name, draws.delay, range, 1_000)),
  ).toMatchInlineSnapshot(`
    [
      2000,
      3000,
      2000,
      6000,
      8000,
    ]
  `);
  expect(names.map((name) => chance.happens(name, draws.drop, odds))).toMatchInlineSnapshot(`
    [
      false,
      false,
      false,
      false,
      false,
    ]
  `);
  const crowd = Array.from({ length: 20 }, (_, at) => `client-${at}`);
  const dropped = crowd.filter((name) => chance.happens(nameOf(name), draws.drop, odds));
  expect(dropped).toMatchInlineSnapshot(`
    [
      "client-1",
      "client-3",
      "client-6",
      "client-9",
      "client-13",
    ]
  `);
});

test('a stream of draws gives the pinned results', () => {
  const draw = new Draw('7/alice', false);
  const odds = { numerator: 1, denominator: 3 };
  expect([
    draw.bits(),
    draw.below(10),
    draw.time({ minUs: 0, maxUs: 50_000 }),
    draw.oneOf(['x', 'y', 'z']),
    draw.happens(odds),
    draw.bits(),
  ]).toMatchInlineSnapshot(`
    [
      1746108629,
      9,
      12761,
      "z",
      true,
      3670753410,
    ]
  `);
  const millisecondDraw = new Draw('7/alice', true);
  const times = [1, 2, 3].map(() => millisecondDraw.time({ minUs: 0, maxUs: 50_000 }));
  expect(times).toMatchInlineSnapshot(`
    [
      5000,
      10000,
      2000,
    ]
  `);
});
