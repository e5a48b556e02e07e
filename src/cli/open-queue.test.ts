import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { MemoryQueue } from '../adapters/fleet/memory-queue.fixture.ts';
import { closeSoon, patientQueue, promptQueue, sweepCommandText } from './open-queue.ts';

afterEach(() => vi.unstubAllEnvs());

const id = 's0123';

test('a queue that is in the environment is not named again', () => {
  const queue = 'redis://:s3cret@h:1';
  vi.stubEnv('FENCEPOST_QUEUE', queue);
  expect(sweepCommandText('resume', { queue, id })).toBe(
    'npx --no-install fencepost sweep resume s0123',
  );
});

test('a queue without a secret is named, with what else is needed', () => {
  const queue = 'redis://h/1';
  expect(sweepCommandText('resume', { queue, id, options: ['--output', 'my reports'] })).toBe(
    `npx --no-install fencepost sweep resume s0123 --output 'my reports' --queue ${queue}`,
  );
});

test('of a queue with a secret only its variable is named', () => {
  for (const queue of ['redis://:s3cret@h:1', 'rediss://u:s3cret@h', 'redis://s3cret:%@h']) {
    const text = sweepCommandText('stop', { queue, id: null });
    expect(text).toBe('FENCEPOST_QUEUE=… npx --no-install fencepost sweep stop');
  }
});

describe('a queue that is waited for', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  class SilentQueue extends MemoryQueue {
    override sweeps(): Promise<never> {
      return new Promise(() => {});
    }

    override close(): Promise<never> {
      return new Promise(() => {});
    }
  }

  const explain = (error: Error): Error => new Error(`ours: ${error.message}`);

  /** How it ended, once so much time is over; null for not yet. */
  async function after(ms: number, answer: Promise<unknown>): Promise<string | null> {
    let how: string | null = null;
    answer.then(
      () => {
        how = 'answered';
      },
      (error: Error) => {
        how = error.message;
      },
    );
    await vi.advanceTimersByTimeAsync(ms);
    return how;
  }

  test('who is prompt waits five seconds for an answer', async () => {
    const queue = promptQueue(new SilentQueue(), explain);
    expect(await after(4_900, queue.sweeps())).toBeNull();
    expect(await after(5_100, queue.sweeps())).toBe('ours: nothing came back within 5 s');
    expect(await after(0, queue.sweep('s'))).toBe('answered');
  });

  test('who is patient waits for ever, until he is interrupted', async () => {
    const interruption = new AbortController();
    const queue = patientQueue(new SilentQueue(), interruption.signal, explain);
    const answer = queue.sweeps();
    expect(await after(3_600_000, answer)).toBeNull();
    interruption.abort();
    expect(await after(1_900, answer)).toBeNull();
    expect(await after(200, answer)).toBe('ours: nothing came back within 2 s');
    expect(await after(2_100, queue.sweeps())).toBe('ours: nothing came back within 2 s');
    expect(await after(0, queue.sweep('s'))).toBe('answered');
  });

  test('a queue that cannot be closed is left', async () => {
    expect(await after(2_100, closeSoon(new SilentQueue()))).toBe('answered');
  });
});
