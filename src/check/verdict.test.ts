import { expect, test } from 'vitest';
import { conclude } from './verdict.ts';

test('a broken claim was exercised, even if its hazard was never counted', () => {
  const breach = { rule: 'sum-at-end', evidence: [] };
  expect(conclude('cross-key', { exercised: 0, breach })).toMatchObject({ exercised: 1 });
  expect(conclude('cross-key', { exercised: 3, breach })).toMatchObject({ exercised: 3 });
  expect(conclude('cross-key', { exercised: 0, breach: null })).toMatchObject({ exercised: 0 });
});
