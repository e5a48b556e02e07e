import { afterEach, expect, test, vi } from 'vitest';
import { loadScenario } from '../../load.ts';
import { sweep } from './sweep.ts';

afterEach(() => void vi.useRealTimers());

const text = `name: calm
systems: { one: { lock: lock-service, store: fenced, expect: { holds: [grant-order] } } }
`;

test('a sweep of this thread comes to its end while timers are faked', async () => {
  const read = loadScenario(text, 'calm.yaml');
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  vi.useFakeTimers();
  const { isWhole, tallies } = await sweep(read.scenario, { from: 0, to: 99, pool: null });
  expect(isWhole).toBe(true);
  expect(tallies.get('one')?.seeds).toBe(100);
});
