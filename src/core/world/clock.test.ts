import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Clock } from './process.ts';

const DAY_US = 86_400_000_000;
const ppm = fc.oneof(
  fc.integer({ min: -999_999, max: 9_999_999 }),
  fc.constantFrom(0, 1, -1, 200, -200, -999_999, 9_999_999),
);
const instant = fc.oneof(fc.nat(100), fc.nat(10_000_000), fc.nat(DAY_US));

/** floor(t × (10⁶ + ppm) / 10⁶), exactly. */
function exact(elapsedUs: number, ratePpm: number): number {
  const product = BigInt(elapsedUs) * BigInt(1_000_000 + ratePpm);
  return Number(product / 1_000_000n);
}

describe('a clock', () => {
  test('shows true time until it is changed', () => {
    fc.assert(
      fc.property(instant, (atUs) => {
        const clock = new Clock();
        expect([clock.monotonicUs(atUs), clock.wallUs(atUs)]).toEqual([atUs, atUs]);
      }),
    );
  });

  test('runs exactly at its rate, over a day and at any number of parts per million', () => {
    fc.assert(
      fc.property(instant, instant, ppm, (fromUs, forUs, ratePpm) => {
        const clock = new Clock();
        clock.setRate(fromUs, ratePpm);
        expect(clock.monotonicUs(fromUs)).toBe(fromUs);
        expect(clock.monotonicUs(fromUs + forUs)).toBe(fromUs + exact(forUs, ratePpm));
      }),
    );
  });

  test('has an inverse: the first true time at which it shows a value', () => {
    fc.assert(
      fc.property(instant, fc.integer({ min: 1, max: DAY_US }), ppm, (fromUs, spanUs, ratePpm) => {
        const clock = new Clock();
        clock.setRate(fromUs, ratePpm);
        const target = fromUs + exact(spanUs, ratePpm);
        const firstUs = clock.trueTimeOfMonotonic(target);
        expect(clock.monotonicUs(firstUs)).toBeGreaterThanOrEqual(target);
        if (firstUs > fromUs) expect(clock.monotonicUs(firstUs - 1)).toBeLessThan(target);
        expect(firstUs).toBeLessThanOrEqual(fromUs + spanUs);
      }),
    );
  });

  test('has an exact inverse at every microsecond, slow or fast', () => {
    for (const ratePpm of [-999_000, -500_000, -3, 3, 300_000, 5_000_000]) {
      const clock = new Clock();
      clock.setRate(7, ratePpm);
      for (let us = 8; us < 200; us += 1) {
        let firstUs = 7;
        while (clock.monotonicUs(firstUs) < us) firstUs += 1;
        expect(clock.trueTimeOfMonotonic(us)).toBe(firstUs);
      }
    }
  });

  test('a step moves the wall clock and not the monotonic one', () => {
    const clock = new Clock();
    clock.step(-30);
    clock.step(10);
    expect([clock.monotonicUs(100), clock.wallUs(100)]).toEqual([100, 80]);
    expect(clock.trueTimeOfWall(80)).toBe(100);
  });

  test('a rate moves both clocks', () => {
    const clock = new Clock();
    clock.step(5);
    clock.setRate(100, 1_000_000);
    expect([clock.monotonicUs(110), clock.wallUs(110)]).toEqual([120, 125]);
    clock.setRate(110, 0);
    expect([clock.monotonicUs(120), clock.wallUs(120)]).toEqual([130, 135]);
  });

  test('a frozen clock stops at any rate, and then continues from there', () => {
    fc.assert(
      fc.property(ppm, instant, fc.nat(1000), (ratePpm, fromUs, forUs) => {
        const clock = new Clock();
        clock.setRate(0, ratePpm);
        clock.freeze(fromUs, fromUs + forUs);
        const frozen = exact(fromUs, ratePpm);
        expect(clock.monotonicUs(fromUs)).toBe(frozen);
        expect(clock.monotonicUs(fromUs + forUs)).toBe(frozen);
        expect(clock.monotonicUs(fromUs + forUs + 50)).toBe(frozen + exact(50, ratePpm));
      }),
    );
  });

  test('overlapping freezes lose the time of their union once', () => {
    const clock = new Clock();
    clock.freeze(10, 110);
    clock.freeze(50, 150);
    clock.freeze(60, 70);
    expect([clock.monotonicUs(150), clock.monotonicUs(160)]).toEqual([10, 20]);
  });

  test('a thawed clock runs again at once', () => {
    const clock = new Clock();
    clock.freeze(10, 110);
    clock.thaw(30);
    expect(clock.monotonicUs(40)).toBe(20);
    clock.thaw(50);
    expect(clock.monotonicUs(60)).toBe(40);
  });

  test('a rate that changes during a freeze applies from the end of the freeze', () => {
    const clock = new Clock();
    clock.freeze(10, 20);
    clock.setRate(15, 1_000_000);
    expect([clock.monotonicUs(20), clock.monotonicUs(30)]).toEqual([10, 30]);
  });
});
