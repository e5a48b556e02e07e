import { expect, test } from 'vitest';
import { requireNoneNeedless } from './needless-faults.ts';

const LONGEST_MS = 3_600_000;

test('1,000 shrunk plans have no needless fault', { timeout: LONGEST_MS }, async () => {
  expect(await requireNoneNeedless(1000)).toBeGreaterThan(50);
});
