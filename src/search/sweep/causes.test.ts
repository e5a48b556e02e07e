/**
 * Causes of several seeds add up in any order; a kind of failure is the one with the fewest faults.
 */
import { describe, expect, test } from 'vitest';
import type { BreachCause } from '../../check/breach-cause.ts';
import { type CauseCounts, causesSchema, KEPT_CAUSES, kindsAmong, mergeCauses } from './causes.ts';

function of(...whats: readonly string[]): BreachCause {
  const faults = whats.map((what) => ({ kind: 'pause', what }) as const);
  return { rule: 'stale-write', isByNonOwnerRelease: false, faults };
}

function seen(cause: BreachCause, ...brokenSeeds: readonly number[]): CauseCounts {
  return { cause, broken: brokenSeeds.length, brokenSeeds: brokenSeeds.slice(0, 3) };
}

function kindsOf(causes: readonly CauseCounts[]): readonly string[] {
  return kindsAmong(causes).map(
    ({ cause, broken, brokenSeeds }) =>
      `${cause.faults.map(({ what }) => what).join('+')}: ${broken}, ${brokenSeeds}`,
  );
}

describe('merged causes', () => {
  const parts = [
    [seen(of('a'), 1, 4), seen(of('b'), 2)],
    [seen(of('b'), 9, 11)],
    [seen(of('a'), 6, 7, 8), seen(of('c'), 5)],
  ];

  test('are the same in any order', () => {
    const [x = [], y = [], z = []] = parts;
    const merged = mergeCauses(mergeCauses(x, y), z);
    expect(merged).toEqual([
      { cause: of('a'), broken: 5, brokenSeeds: [1, 4, 6] },
      { cause: of('b'), broken: 3, brokenSeeds: [2, 9, 11] },
      { cause: of('c'), broken: 1, brokenSeeds: [5] },
    ]);
    expect(mergeCauses(z, mergeCauses(y, x))).toEqual(merged);
    expect(causesSchema.parse(merged)).toEqual(merged);
  });

  test('keep the fewest faults injected before a breach that shows none', () => {
    const after = (...whats: readonly string[]): BreachCause => {
      const earlier = whats.map((what) => ({ kind: 'pause', what }) as const);
      return { ...of(), earlier };
    };
    const seeds = [seen(after('a', 'b'), 1), seen(after('c'), 2), seen(after('b'), 3)];
    const least = { cause: after('b'), broken: 3, brokenSeeds: [1, 2, 3] };
    expect(seeds.reduce((sum, one) => mergeCauses(sum, [one]), mergeCauses([], []))).toEqual([
      least,
    ]);
    expect(seeds.reduceRight((sum, one) => mergeCauses([one], sum), mergeCauses([], []))).toEqual([
      least,
    ]);
    expect(causesSchema.parse([least])).toEqual([least]);
    const never = seen(of(), 4);
    expect(mergeCauses([least], [never])).toMatchObject([{ cause: of(), broken: 4 }]);
  });

  test('are bounded, and those that remain have counted every seed', () => {
    const all = Array.from({ length: 90 }, (_, seed) =>
      seen(of(`${1000 + ((seed * 37) % 90)}`), seed),
    );
    const one = all.reduce((sum, next) => mergeCauses(sum, [next]), mergeCauses([], []));
    const other = mergeCauses(mergeCauses([], all.slice(40)), mergeCauses(all.slice(0, 40), []));
    expect(one.length).toBe(KEPT_CAUSES);
    expect(other).toEqual(one);
  });
});

describe('kinds of failure', () => {
  test('are named by their fewest faults, and start with their lowest seed', () => {
    const causes = [seen(of('a', 'b'), 1, 12), seen(of('a'), 3, 7), seen(of('c'), 2)];
    expect(kindsOf(causes)).toEqual(['a: 4, 1,3,7', 'c: 1, 2']);
  });

  test('keep the cause with the fewest faults, however the others are worded', () => {
    const causes = [seen(of('a', 'b'), 1), seen(of('b'), 3), seen(of('b', 'c'), 2)];
    expect(kindsOf(causes)).toEqual(['b: 3, 1,2,3']);
  });

  test('without a fault do not absorb others, nor does one rule absorb another', () => {
    const later = { ...of('a'), rule: 'write-after-read' };
    expect(kindsOf([seen(of(), 1), seen(of('a'), 2), seen(later, 3)])).toEqual([
      ': 1, 1',
      'a: 1, 2',
      'a: 1, 3',
    ]);
  });
});
