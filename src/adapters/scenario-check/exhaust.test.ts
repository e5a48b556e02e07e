/**
 * Tests `exhaust`: a test that examines every plan of a scope, for a named lock and for its own
 * body.
 */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runTest } from './check-scenario.ts';
import { type AnyOptions, type Body, checkOptions, type WrittenHere } from './options.ts';
import { lockOfBody } from './subject.ts';
import { readRequests } from './test-place.ts';

/** Loaded again for each test, so a module without imports. */
const HERE = join(import.meta.dirname, 'known-names.ts');

/** Returns the output of a test, or its error. */
async function ended(options: AnyOptions, body?: Body<object, object>, seed = ''): Promise<string> {
  const printed: string[] = [];
  const lock = body === undefined ? null : lockOfBody({}, body, []);
  const place = { file: HERE, fullName: 'small', command: ['npx', 'vitest'], alone: [] };
  const { signal } = new AbortController();
  const print = (text: string): void => void printed.push(text);
  try {
    const requests = readRequests(seed === '' ? {} : { FENCEPOST_SEED: seed });
    await runTest(checkOptions(options, lock), { place, requests, signal, print });
  } catch (error) {
    return String(error);
  }
  return printed.join('\n');
}

const scenario: WrittenHere = {
  clients: { count: 3, ttl: '10ms', sections: 2 },
  workload: { kind: 'blind-writes' },
  network: { latency: '1ms..2ms' },
  faults: [{ pause: { process: 'clients', before: 'write', for: '1ms..30ms', chance: '1/2' } }],
};
const exhaust = { faults: 1, clients: 2, sections: 1 };

test('a system that holds reports the exhausted scope', async () => {
  const options = { ...scenario, lock: 'lock-service', store: 'fenced', exhaust } as const;
  expect(await ended(options)).toMatch(
    /^fencepost: small: exhausted: ≤ 1 fault of pause; lengths at .*; latency 1 ms; \d+ plans$/,
  );
});

test('a broken check fails with the first broken plan, which has the fewest faults', async () => {
  const options = { ...scenario, lock: 'lock-service', store: 'unfenced' } as const;
  const failed = await ended({ ...options, exhaust: { ...exhaust, faults: 2, ties: 1 } });
  expect(failed).toMatch(/grant-order of lock-service, plan \d+$/m);
  expect(failed).toContain('1 fault → 1');
  expect(failed).toMatch(/^plan: +FENCEPOST_SEED=\d+ /m);
});

test('an unknown plan number is refused', async () => {
  const options = { ...scenario, lock: 'lock-service', store: 'fenced', exhaust } as const;
  expect(await ended(options, undefined, '9999')).toMatch(
    /there is no plan 9999; the last is \d+$/,
  );
});

test('the body of a test is searched exhaustively, too', async () => {
  const body: Body<object, object> = async (section) => {
    const guard = section.guard({ token: 1 });
    await section.mark('deciding');
    await guard.work();
    guard.leave();
  };
  const faults = [{ pause: { process: 'clients', before: 'deciding', for: '1ms..9ms' } }] as const;
  const options = { ...scenario, faults, breaks: ['tokens-unique', 'mutual-exclusion'] } as const;
  expect(await ended({ ...options, exhaust }, body)).toContain('exhausted: ≤ 1 fault of pause');
});

test.each<[object, string]>([
  [{ exhaust: 'two' }, 'exhaust: expected a maximum number of faults, e.g. 2, not "two"'],
  [{ exhaust: -1 }, 'exhaust: expected a whole number of at least 0, not -1'],
  [{ exhaust: 1, seeds: 5 }, 'seeds: not allowed with exhaust, which runs every plan'],
  [{ exhaust: { ties: 1 } }, 'exhaust.faults: is missing'],
  [
    { exhaust: { faults: 1, client: 2 } },
    'exhaust.client: unknown; known: faults, ties, clients, sections',
  ],
])('%j is refused', async (wrong, what) => {
  const options = { ...scenario, lock: 'redlock' } as const;
  expect(await ended(Object.assign(options, wrong))).toContain(what);
});
