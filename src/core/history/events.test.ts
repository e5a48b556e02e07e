import { expect, test } from 'vitest';
import { stampText } from './events.ts';

test('a stamp is told from the start of the run, whatever the time of day was', () => {
  const scale = { by: 'timestamp', epochMs: 1_000 } as const;
  const words = [1_012, 1_000, 988].map((stamp) => stampText(scale, stamp));
  expect(words).toEqual(['12 ms', '0 ms', '−12 ms']);
  expect(stampText({ by: 'timestamp' }, 7)).toBe('7 ms');
});
