/** Contents of test files that import `fencepost/vitest`, as users write them. */
import { readFileSync } from 'node:fs';

const page = readFileSync(new URL('../../../docs/library.md', import.meta.url), 'utf8');
const shown = [...page.matchAll(/(?<=```ts\n)[\s\S]*?(?=```)/g)].map(([text]) => text);

/** The first test in `docs/library.md`, which fails. */
export const shownTest: string =
  shown.find((text) => text.includes("'fencepost/vitest'")) ?? 'the page shows no test';

/** The test in `docs/library.md` in which each process loads its own lock, owner and driver. */
export const modulesTest: string =
  shown.find((text) => text.includes('modules:')) ?? 'the page shows no modules';

/** The test in `docs/library.md` with a mutex in process memory. */
export const turnsTest: string =
  shown.find((text) => text.includes('async-mutex')) ?? 'the page shows no mutex';

/** The lock that `modulesTest` loads, as a user might write it. */
export const driverLock = `
import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';

const redis = new Redis('redis://redis-1:6379');
const owner: string = randomUUID();

export async function withLock(key: string, ttlMs: number, work: () => Promise<void>): Promise<void> {
  if ((await redis.set(key, owner, 'PX', ttlMs, 'NX')) !== 'OK') return;
  await work();
  if ((await redis.get(key)) === owner) await redis.del(key);
}
`;

const [above = '', , body = ''] = shownTest.split(
  /^(simTest\([\s\S]*?async \(section, \{ redis \}\) => \{)$/m,
);

/** The parts of `shownTest` as a module that other tests import. */
export const lockFile: string = `
import type { AsyncClient, AsyncSection } from 'fencepost';
import type { ServerHost, World } from 'fencepost/servers';
${above.replace(/^.*fencepost\/vitest.*$/m, '')}
export const pauses = [{ pause: { before: 'write', for: '1ms..60ms', chance: '1/2' } }] as const;
export const myLock = {
  clients: { count: 2, ttl: '20ms' },
  workload: { kind: 'read-modify-write' },
  servers: (world: World) => ({ node: world.addServer({ name: 'lock', role: 'lock' }, new RedisNode()) }),
  start: (client: AsyncClient, { node }: { node: ServerHost<any, any> }) => ({ redis: new RedisClient(client, node) }),
  seeds: 20,
} as const;
export async function body(section: AsyncSection, { redis }: { redis: RedisClient }) {${body.replace(/\}\);\s*$/, '}')}
`;

const head = `
import { describe, expect, test, vi, afterEach, beforeEach } from 'vitest';
import { RedisClient } from 'fencepost/redis';
import { simTest } from 'fencepost/vitest';
import { body, myLock, pauses } from './my-tests.ts';
`;

/** One test of each kind. */
export const manyTests: string = `${head}
describe('locks of fencepost', () => {
  simTest('a name', { lock: 'redlock', faults: pauses, holds: ['mutual-exclusion'], seeds: 20 });
  simTest('a claim that should break', { lock: 'lock-service', faults: pauses, breaks: ['fence-monotone'] });
  simTest('a scenario', { scenario: './zombie.yaml', system: 'unfenced' });
});
simTest('a body', { ...myLock, faults: [{ pause: { before: 'set', for: '1ms' } }], holds: ['progress'] }, body);
simTest('a body that should break', { ...myLock, faults: pauses, breaks: ['grant-order'] }, body);
simTest('a body that prints', { ...myLock, faults: [], seeds: 1 }, async (section, handles) => {
  console.log('printed in section', section.id);
  await body(section, handles);
});
simTest('parts of a process', {
  ...myLock, faults: [], seeds: 5,
  start: (client, { node }) => ({
    taken: [] as string[], owner: client.name, redis: new RedisClient(client, node),
  }),
}, async (section, { client, owner, taken, redis }) => {
  expect(owner).toBe(client.name);
  expect(taken.length).toBe(section.id - 1);
  taken.push(section.lock);
  await body(section, { redis });
});
simTest.each(['10ms', '20ms'])('a ttl of %s', (ttl) => ({ ...myLock, clients: { ttl }, faults: [], seeds: 3 }),
  async (section, handles, ttl) => {
    expect(\`\${section.ttlMs}ms\`).toBe(ttl);
    await body(section, handles);
  });
simTest.skip('a test that is left out', { lock: 'redlock', faults: [] });
simTest.todo('a test to come');
simTest.fails('a test that fails', { ...myLock, faults: pauses }, body);

simTest('a mistake', { ...myLock, faults: [] }, async (_section, { redis }) => {
  (redis as any).none.such;
});
simTest('an assertion', { ...myLock, faults: [] }, async (section, handles) => {
  await body(section, handles);
  expect(section.ttlMs).toBe(21);
});
simTest('an escape', { ...myLock, faults: [] }, async () => void (await fetch('http://localhost')));
simTest('nothing that breaks', { ...myLock, faults: pauses, breaks: ['at-most-once'], seeds: 5 }, body);
simTest('nothing put to the test', {
  ...myLock, faults: [{ crash: { process: 'clients', at: '9s', chance: '1/2' } }],
}, body);
simTest('an operation of another name', {
  ...myLock, faults: [{ pause: { before: 'release', for: '30ms' } }], holds: ['progress'], seeds: 5,
}, body);
simTest('a claim about servers', { ...myLock, faults: pauses, holds: ['mutual-exclusion'] }, body);
let runs = 0;
simTest('a memory', { ...myLock, faults: [] }, async (section, { client }) => {
  client.log('runs', String((runs += 1)));
});
simTest('a budget', { ...myLock, faults: [], budgetMs: 1 }, body);
simTest('too little time', { ...myLock, faults: [], timeout: 1 }, body);
simTest('wrong options', { ...myLock, seedz: 3, faults: [] } as any, body as any);
simTest('wrong fields', { ...myLock, faults: [{ pausee: {} }], holds: ['grant-ordr'] } as any, body as any);
simTest('no options', {} as any);
simTest('a file that is missing', { scenario: './none.yaml' });
`;

/** Several concurrent tests, together with a plain vitest test. */
export const togetherTests: string = `${head}
describe.concurrent('together', () => {
  for (const name of ['one', 'two', 'three']) simTest(name, { ...myLock, faults: [], seeds: 50 }, body);
  simTest('one that breaks', { ...myLock, faults: pauses, breaks: ['grant-order'] }, body);
  test('a real one', async () => {
    const begunMs = Date.now();
    await new Promise((done) => setTimeout(done, 30));
    expect(Date.now() - begunMs).toBeGreaterThan(25);
  });
});
`;

/** Tests under vitest's own fake timers. The real timers must be unchanged after each test. */
export const fakeTimersTests: string = `${head}
const real = [setTimeout, setImmediate, Date, performance.now];
beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => {
  vi.useRealTimers();
  expect([setTimeout, setImmediate, Date, performance.now]).toEqual(real);
});
simTest('a body under fake timers', { ...myLock, faults: [] }, body);
simTest('a name under fake timers', { lock: 'redlock', faults: [], seeds: 5 });
test('fake timers', () => {
  let rung = 0;
  setTimeout(() => { rung = Date.now(); }, 10);
  vi.advanceTimersByTime(10);
  expect(rung).toBe(10);
});
`;

/** `shownTest` with a store that compares tokens, although its body passes none. */
export const tokenlessTest: string = shownTest
  .replace('read-modify-write', 'blind-writes')
  .replace('faults:', "store: 'fenced',\n  faults:");

/** `tokenlessTest` with tokens, so that its claim holds. */
export const curedTest: string = tokenlessTest.replaceAll('acquire', 'acquireWithToken');

/** `tokenlessTest` without any work. */
export const idleTest: string = tokenlessTest.replace(/^.*await guard\.work\(\).*$/m, '');

/** Three tests without faults: an unknown command, no guard, and work that is not awaited. */
export const saboteurTests: string = `${head}
const calm = { ...myLock, faults: [], holds: ['grant-order'], seeds: 5 } as const;
simTest('an unknown command', calm, async (section, { redis }) => {
  await redis.call('FOO', section.lock);
  section.guard();
});
simTest('no guard', calm, async (section, { redis }) => {
  await redis.set(section.lock, '1');
});
simTest('no await', calm, async (section, { redis }) => {
  await redis.set(section.lock, '1');
  const guard = section.guard();
  void guard.work();
  guard.leave();
});
`;

export const longTest: string = shownTest.replace(
  /faults: .*/,
  'faults: [], seeds: 1e7, timeout: 1e8,',
);

/** Runs `long.test.ts`, and cancels it while its seeds run, as a key press would. */
export const cancelScript = `
import { createVitest } from 'vitest/node';
const vitest = await createVitest('test', { watch: false });
const onTestCaseReady = () => {
  setTimeout(() => void vitest.cancelCurrentRun('keyboard-input'), 1_000);
};
vitest.reporters.splice(0, Infinity, { onTestCaseReady });
await vitest.start(['long.test.ts']);
await vitest.close();
console.log('it ended');
`;
