import { expect, test } from 'vitest';
import type { Boundary } from '../core/shrink/boundary.ts';
import { planWith } from '../core/shrink/sample-plan.fixture.ts';
import { boundaryText } from './describe-finding.ts';

function boundary(found: Partial<Boundary>): Boundary {
  return {
    what: 'pause of bob',
    parameter: 'faults[0].forUs',
    isOnlyOne: true,
    breaksAtUs: 10_001,
    holdsAtUs: 10_000,
    keepsUs: 11_000,
    holdsPlan: planWith([]),
    ...found,
  };
}

test('a boundary is described from its side with the shorter number', () => {
  const texts = [
    boundary({}),
    boundary({ breaksAtUs: 9_000, holdsAtUs: 8_999, keepsUs: 9_000 }),
    boundary({ breaksAtUs: 2_000, holdsAtUs: 2_001, keepsUs: 0 }),
    boundary({ breaksAtUs: 999, holdsAtUs: 1_000, keepsUs: 0 }),
  ].map(boundaryText);
  expect(texts).toEqual([
    'breaks with any pause of bob over 10 ms',
    'breaks with any pause of bob of 9 ms or more',
    'breaks with any pause of bob up to 2 ms',
    'breaks with any pause of bob under 1 ms',
  ]);
});

test('a plan that cannot keep the next round number reports the drawn one', () => {
  expect(boundaryText(boundary({ breaksAtUs: 0, holdsAtUs: 1 }))).toBe(
    'breaks with no pause of bob, holds with 1 us',
  );
  expect(boundaryText(boundary({ keepsUs: 10_500 }))).toBe(
    'breaks with any pause of bob over 10 ms; 10.5 ms drawn',
  );
});

test('if there is another boundary further on, only the tried lengths are reported', () => {
  expect(boundaryText(boundary({ isOnlyOne: false }))).toBe(
    'breaks with a pause of bob of 10.001 ms, holds with 10 ms',
  );
});
