import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isAhead } from './owner.ts';

test('of any two coordinators exactly one is ahead, and none is ahead of itself', () => {
  const owners = fc.record({ coordinator: fc.constantFrom('a', 'b', 'c'), epoch: fc.nat(3) });
  fc.assert(
    fc.property(owners, owners, (one, other) => {
      const isSame = one.coordinator === other.coordinator && one.epoch === other.epoch;
      expect([isAhead(one, other), isAhead(other, one)].filter(Boolean)).toHaveLength(
        isSame ? 0 : 1,
      );
      if (one.epoch > other.epoch) expect(isAhead(one, other)).toBe(true);
    }),
  );
});
