import { afterEach, expect, test, vi } from 'vitest';
import { sweepCommandText } from './sweep-words.ts';

afterEach(() => vi.unstubAllEnvs());

const id = 's0123';

test('a queue that is in the environment is not named again', () => {
  const queue = 'redis://:s3cret@h:1';
  vi.stubEnv('FENCEPOST_QUEUE', queue);
  expect(sweepCommandText('resume', { queue, id })).toBe('npx fencepost sweep resume s0123');
});

test('a queue without a secret is named, with what else is needed', () => {
  const queue = 'redis://h/1';
  expect(sweepCommandText('resume', { queue, id, options: ['--output', 'my reports'] })).toBe(
    `npx fencepost sweep resume s0123 --output 'my reports' --queue ${queue}`,
  );
});

test('of a queue with a secret only its variable is named', () => {
  for (const queue of ['redis://:s3cret@h:1', 'rediss://u:s3cret@h', 'redis://s3cret:%@h']) {
    const text = sweepCommandText('stop', { queue, id: null });
    expect(text).toBe('FENCEPOST_QUEUE=… npx fencepost sweep stop');
  }
});
