/** A lock on a user's own driver; only `hosts` names the address of its server. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { readPlan, renderPlan } from '../../core/plan/plan-text.ts';
import { digestOf, whyRefused } from '../../run.ts';
import { expand } from '../../scenario/expand.ts';
import { renderProblem } from '../../text/problem.ts';
import { pinAsync, runAsync } from '../async/run-async.ts';
import {
  readPlanSource,
  readScenarioSource,
  type ScenarioFileRead,
} from '../modules/load-files.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'fencepost-hosts-'));
const scenario = readFileSync(join(root, 'fixtures/driver/lock.yaml'), 'utf8');

function put(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

beforeAll(() => {
  cpSync(join(root, 'fixtures/driver'), folder, { recursive: true });
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(
    dirname(fileURLToPath(import.meta.resolve('ioredis/package.json'))),
    join(folder, 'node_modules/ioredis'),
  );
  put('echo.fencepost.ts', ECHO);
});

/** Its server is not a Redis. */
const ECHO = `import { defineSystem } from 'fencepost';
const buildAsync = (world) => {
  world.addServer({ name: 'lock', role: 'lock' }, { handle: (request) => request });
  return () => async () => {};
};
export default defineSystem({ locks: { 'my-lock': { about: 'an echo', buildAsync } } });
`;

async function loaded(text: string): Promise<Extract<ScenarioFileRead, { kind: 'scenario' }>> {
  const read = await readScenarioSource({ file: 'lock.yaml', text }, { kind: 'folder', folder });
  if (read.kind === 'problems') throw new Error(read.problems.map(renderProblem).join('\n'));
  return read;
}

test('a driver reaches the servers that `hosts` names, without further code', async () => {
  const { scenario: read, catalogue } = await loaded(scenario);
  const plan = expand(read, 'my-lock', 1);
  const trace = await runAsync(plan, catalogue);
  expect(trace.ending).toEqual({ kind: 'complete' });
  expect(trace.processes.slice(0, 3)).toMatchObject([
    { name: 'lock', role: 'lock' },
    { name: 'store' },
    { name: 'alice' },
  ]);
  const operations = trace.events.flatMap((event) =>
    event.kind === 'invoke' ? [event.operation] : [],
  );
  expect(operations).toContain('alice/1/connect');
  expect(operations).toContain('alice/1/set');
  expect(operations).toContain('alice/1/write');
  const text = renderPlan(await pinAsync(plan, catalogue));
  expect(text).toContain('hosts: { redis-1:6379: lock }');
  const pinned = await readPlanSource({ file: 'plan.yaml', text }, { kind: 'folder', folder });
  if (pinned.kind === 'problems') return expect.fail(pinned.problems.map(renderProblem).join('\n'));
  expect(digestOf(await runAsync(pinned.plan, pinned.catalogue))).toBe(digestOf(trace));
});

test('a plan that names an unknown server is refused with its place', async () => {
  const { scenario: read, catalogue } = await loaded(scenario);
  const text = renderPlan(expand(read, 'my-lock', 1)).replace('6379: lock }', '6379: lok }');
  const pinned = await readPlanSource({ file: 'plan.yaml', text }, { kind: 'folder', folder });
  expect(pinned.kind === 'problems' ? pinned.problems.map(renderProblem) : []).toEqual([
    expect.stringMatching(
      /^plan\.yaml:\d+:\d+ system\.hosts\["redis-1:6379"\]: unknown server "lok"; did you mean "lock"\?$/,
    ),
  ]);
  const plan = readPlan({ file: 'plan.yaml', text });
  expect(plan.kind === 'plan' && whyRefused(plan.plan, catalogue)).toBe(
    'my-lock has no server lok, which hosts names for redis-1:6379',
  );
});

test('an address without a server is reported with its place and the known hosts', async () => {
  const { scenario: read, catalogue } = await loaded(scenario.replace('redis-1', 'redis-2'));
  const { ending } = await runAsync(expand(read, 'my-lock', 1), catalogue);
  expect(ending).toMatchObject({
    error: expect.stringMatching(
      /^\w+ speaks Redis to redis-1:6379, where no server listens \(hosts: redis-2:6379\), at .*ioredis.*; add `'redis-1:6379': 'lock'` to `hosts` in the scenario$/,
    ),
  });
});

test('a server that no driver understands cannot be named in hosts', async () => {
  const text = scenario.replace('lock.fencepost', 'echo.fencepost');
  const { scenario: read, catalogue } = await loaded(text);
  expect(whyRefused(expand(read, 'my-lock', 1), catalogue)).toBe(
    'no driver can connect to lock at redis-1:6379: only a `RedisNode` can be named in hosts',
  );
});
