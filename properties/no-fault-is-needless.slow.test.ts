import { expect, test } from 'vitest';
import { requireNoneNeedless } from './needless-faults.ts';

test('a shrunk plan has no fault without which the claim breaks in the same place', async () => {
  expect(await requireNoneNeedless(24)).toBeGreaterThan(0);
});
