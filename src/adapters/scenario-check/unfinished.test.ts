/** A test whose body never ends fails with the place where it waits, unless that is allowed. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runTest } from './check-scenario.ts';
import { type AnyOptions, type Body, checkOptions, type WrittenHere } from './options.ts';
import { lockOfBody } from './subject.ts';
import { readRequests } from './test-place.ts';

/** Loaded again for each test, so a module without imports. */
const HERE = join(import.meta.dirname, 'known-names.ts');

const scenario = {
  clients: { count: 2, ttl: '10ms', sections: 10 },
  workload: { kind: 'read-modify-write' },
  network: { latency: '1ms..2ms' },
  faults: [{ pause: { process: 'clients', for: '1ms..30ms', chance: '1/2' } }],
  seeds: 20,
} as const;

/** Returns the error of a test whose body never ends with a probability of `odds`, or ''. */
async function whyFailed(odds: number, more: Partial<WrittenHere>, seed = ''): Promise<string> {
  const body: Body<object, object> = async (section) => {
    const guard = section.guard({ token: 1 });
    await guard.work();
    if (Math.random() < odds) await new Promise(() => {});
    guard.leave();
  };
  const options: AnyOptions = { ...scenario, ...more, lock: 'none' };
  const place = { file: HERE, fullName: 'small', command: ['npx', 'vitest'], alone: [] };
  const { signal } = new AbortController();
  try {
    const requests = readRequests(seed === '' ? {} : { FENCEPOST_SEED: seed });
    const checked = checkOptions(options, lockOfBody({}, body, []));
    await runTest(checked, { place, requests, signal, print: () => {} });
  } catch (error) {
    return String(error);
  }
  return '';
}

test('a body that waits forever fails its test, even if `progress` is not listed', async () => {
  const why = await whyFailed(1, { holds: ['single-flight'] });
  expect(why).toMatch(
    /✗ \w+'s section 1 never ended; waiting\s+since .* at unfinished\.test\.ts:\d+/,
  );
});

test('a listed `progress` does not fail it, unless too little else was judged', async () => {
  const lists = { breaks: ['no-lost-update'], may: ['progress'] } as const;
  expect(await whyFailed(0.001, lists)).toBe('');
  expect(await whyFailed(1, { holds: ['single-flight'], may: ['progress'] })).toMatch(
    /\? own-lock: single-flight is unknown on 20 seeds, first on 0: \w+'s section 1/,
  );
});

test('on a single seed, a breach of a listed claim does not fail it', async () => {
  expect(await whyFailed(1, { breaks: ['progress'] }, '3')).toBe('');
  expect(await whyFailed(1, { breaks: ['no-lost-update'] }, '3')).toContain('never ended');
});
