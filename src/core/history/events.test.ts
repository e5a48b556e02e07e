import { expect, test } from 'vitest';
import { stampText } from './events.ts';

test('a timestamp is shown relative to the start of the run', () => {
  const scale = { by: 'timestamp', epochMs: 1_000 } as const;
  const words = [1_012, 1_000, 988].map((stamp) => stampText(scale, stamp));
  expect(words).toEqual(['12 ms', '0 ms', '−12 ms']);
  expect(stampText({ by: 'timestamp' }, 7)).toBe('7 ms');
});
