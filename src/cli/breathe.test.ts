import { afterEach, expect, test, vi } from 'vitest';
import { breathe } from './breathe.ts';

afterEach(() => void vi.useRealTimers());

test('the thread gets a turn while timers are faked', async () => {
  vi.useFakeTimers();
  await expect(breathe()).resolves.toBeUndefined();
});
