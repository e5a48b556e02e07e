import { afterEach, expect, test, vi } from 'vitest';
import { WatchedTime } from './whereabouts.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

test('the time that a stopped process sleeps through does not count', () => {
  let nowMs = 1_000;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const time = new WatchedTime(3_000);
  const begunMs = time.now();
  const seen = [100, 3_000, 28_000, 100].map((sinceMs) => {
    nowMs += sinceMs;
    return time.now() - begunMs;
  });
  expect(seen).toEqual([100, 3_100, 3_100, 3_200]);
});
