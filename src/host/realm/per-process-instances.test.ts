import dns from 'node:dns';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { beforeAll, expect, test } from 'vitest';
import type { Trace } from '../../core/history/trace.ts';
import { digestOf } from '../../run.ts';
import { expand } from '../../scenario/expand.ts';
import { examineSeedAsync, runAsync } from '../async/run-async.ts';
import { loadScenarioFile, type ScenarioFileRead } from '../modules/load-files.ts';

const LOCK = `import { defineSystem } from 'fencepost';
import { AT_LOAD, calls, call, log } from './kept.mjs';

const build = (world) => {
  const server = world.addServer({ name: 'lock', role: 'lock' }, {
    handle: (request) => ({ said: request }),
  });
  const port = { host: server, describeRequest: () => ({ verb: 'fetch', lock: 'db', token: 0 }), describeReply: () => ({ kind: 'accepted' }) };
  return (client) => {
    client.log('load', JSON.stringify(AT_LOAD));
    return async (section) => {
      call();
      await section.call(port, { label: 'ask', request: 'x' });
      const guard = section.guard();
      await guard.work();
      guard.leave();
      client.log('count', String(calls()) + log.join());
    };
  };
};
export default defineSystem({ locks: { kept: { about: 'a lock that keeps things', operations: ['ask'], buildAsync: build } } });
`;

/** Draws, reads and keeps state at its top level, as packages do. */
const KEPT = `import crypto, { randomUUID } from 'node:crypto';
import { hostname } from 'os';
import { createRequire } from 'module';
const require = createRequire(import.meta.url);
export const AT_LOAD = {
  id: randomUUID(), random: Math.random(), bytes: crypto.randomBytes(4).toString('hex'),
  now: Date.now(), started: performance.now(), pid: process.pid, host: hostname(),
  later: require('./later.cjs'),
  listening: process.on('SIGUSR2', () => {}).listenerCount('SIGUSR2'),
  loads: process.env.LOADS = String(Number(process.env.LOADS ?? 0) + 1),
};
let count = 0;
export const log = [];
export const calls = () => count;
export function call() { count += 1; log.push(count); }
`;

const LATER = `module.exports = [Math.random(), require('node:process').pid, require('os').hostname()];`;

const SCENARIO = `name: kept
use: ./lock.mjs
systems: { kept: { lock: kept, store: unfenced } }
clients: { count: 2, ttl: 20ms, sections: 2, think: 0ms..10ms }
workload: { kind: read-modify-write }
network: { latency: 1ms..2ms }
faults:
  - crash: { process: clients, at: 1ms..20ms, restart: 1ms..5ms, chance: 1/2 }
`;

const folder = mkdtempSync(join(tmpdir(), 'fencepost-own-'));
const file = join(folder, 'kept.yaml');

beforeAll(() => {
  writeFileSync(join(folder, 'lock.mjs'), LOCK);
  writeFileSync(join(folder, 'kept.mjs'), KEPT);
  writeFileSync(join(folder, 'later.cjs'), LATER);
  writeFileSync(file, SCENARIO);
});

type Read = Extract<ScenarioFileRead, { readonly kind: 'scenario' }>;

async function readScenario(scenarioFile: string): Promise<Read> {
  const read = await loadScenarioFile(scenarioFile);
  if (read.kind === 'problems') throw new Error(read.problems.map(({ what }) => what).join('\n'));
  return read;
}

/** Loads everything again and runs these seeds. */
async function tracesOf(seeds: readonly number[], scenarioFile = file): Promise<readonly Trace[]> {
  const read = await readScenario(scenarioFile);
  const traces: Trace[] = [];
  for (const seed of seeds) {
    traces.push(await runAsync(expand(read.scenario, 'kept', seed), read.catalogue));
  }
  return traces;
}

function said(trace: Trace, topic: string): readonly string[] {
  return trace.events.flatMap((event) =>
    event.kind === 'log' && event.topic === topic ? [`${event.process} ${event.text}`] : [],
  );
}

test('neither the order of seeds nor earlier runs change the top level of a module', async () => {
  const seeds = Array.from({ length: 24 }, (_, seed) => seed);
  const forwards = (await tracesOf(seeds)).map(digestOf);
  const backwards = (await tracesOf(seeds.toReversed())).map(digestOf);
  expect(backwards.toReversed()).toEqual(forwards);
  expect(new Set(forwards).size).toBe(seeds.length);
});

test('each incarnation of each process draws its own values', async () => {
  const ofMachine = [process.listenerCount('SIGUSR2'), undefined];
  const traces = await tracesOf([1, 2, 3, 4, 5, 6, 7, 8]);
  const drawn = traces.flatMap((trace) => said(trace, 'load'));
  expect([process.listenerCount('SIGUSR2'), process.env['LOADS']]).toEqual(ofMachine);
  expect(traces.map(({ ending }) => ending.kind)).not.toContain('failed');
  expect(drawn.length).toBeGreaterThan(traces.length * 3);
  const ids = drawn.map((line) => JSON.parse(line.slice(line.indexOf('{'))));
  for (const field of ['id', 'random', 'bytes']) {
    expect(new Set(ids.map((one) => one[field])).size).toBe(ids.length);
  }
  expect(new Set(ids.map(({ host }) => host))).toEqual(new Set(['alice', 'bob', 'probe']));
  for (const { pid, host, later, now, listening, loads } of ids) {
    expect(later.slice(1)).toEqual([pid, host]);
    expect([listening, loads]).toEqual([1, '1']);
    expect(new Date(now).getUTCFullYear()).toBe(2024);
  }
});

test('each process has its own module state', async () => {
  const [trace] = await tracesOf([3]);
  if (trace === undefined) expect.fail('no trace');
  for (const line of said(trace, 'count')) expect(line).toMatch(/^\w+ (?:11|21,2)$/);
});

test('a lock may import a module while it runs, relative to its own file', async () => {
  writeFileSync(
    join(folder, 'late.ts'),
    `import { word } from './word.mjs';
export const told: string = word;
new Response(null); // as \`pg\` does: Node puts what sends requests into globalThis
`,
  );
  writeFileSync(join(folder, 'word.mjs'), `export const word = 'found';`);
  const importing = LOCK.replace(
    'call();',
    `client.log('late', (await import('./late.ts')).told);`,
  );
  writeFileSync(join(folder, 'importing.mjs'), importing);
  const imports = join(folder, 'importing.yaml');
  writeFileSync(imports, SCENARIO.replace('lock.mjs', 'importing.mjs'));
  const [trace] = await tracesOf([3], imports);
  if (trace === undefined) expect.fail('no trace');
  expect(trace.ending).toEqual({ kind: 'complete' });
  expect(said(trace, 'late')).toContain('alice found');
});

test('a lock that adds its servers does not change the real process', async () => {
  const adding = LOCK.replace(
    'return (client) => {',
    `process.on('SIGUSR2', () => {});
  const built = [process.listenerCount('SIGUSR2'), Math.random(), Date.now()].join();
  return (client) => {
    client.log('built', built);`,
  );
  expect(adding).not.toBe(LOCK);
  writeFileSync(join(folder, 'adding.mjs'), adding);
  const adds = join(folder, 'adding.yaml');
  writeFileSync(adds, SCENARIO.replace('lock.mjs', 'adding.mjs'));
  const listening = process.listenerCount('SIGUSR2');
  const [first, again] = await tracesOf([3, 3], adds);
  expect(process.listenerCount('SIGUSR2')).toBe(listening);
  if (first === undefined || again === undefined) expect.fail('no trace');
  expect(digestOf(first)).toBe(digestOf(again));
  // Only those of the process: the listener of its module, and that of the lock.
  const counts = said(first, 'built').map((line) => line.replace(/,.*/, ''));
  expect(new Set(counts)).toEqual(new Set(['alice 2', 'bob 2', 'probe 2']));
});

test('a lock that changes a builtin class fails with its name, on every seed', async () => {
  const changing = LOCK.replace('call();', 'dns.Resolver.asked = (dns.Resolver.asked ?? 0) + 1;');
  writeFileSync(join(folder, 'changing.mjs'), `import dns from 'node:dns';\n${changing}`);
  const changes = join(folder, 'changing.yaml');
  writeFileSync(changes, SCENARIO.replace('lock.mjs', 'changing.mjs'));
  const { scenario, catalogue } = await readScenario(changes);
  const name = 'dns.Resolver.asked, which all simulated processes share';
  const error = expect.stringMatching(
    new RegExp(`^it changes ${name}; at \\S*changing.mjs:13:\\d+$`),
  );
  for (const seed of [3, 4, 3]) {
    const { trace } = await examineSeedAsync(scenario, 'kept', seed, [], catalogue);
    expect(trace.ending).toMatchObject({ kind: 'failed', error });
  }
  expect(dns.Resolver).not.toHaveProperty('asked');
});

test('a definition gets no answer from the real DNS while it is loaded', async () => {
  const asking = `import dns from 'node:dns';
const heard = globalThis.heardAtLoad;
dns.lookup('localhost', (_, address) => heard.push(address));
dns.promises.lookup('localhost').then(({ address }) => heard.push(address));
`;
  writeFileSync(join(folder, 'asking.mjs'), asking + LOCK);
  const asks = join(folder, 'asking.yaml');
  writeFileSync(asks, SCENARIO.replace('lock.mjs', 'asking.mjs'));
  Reflect.set(globalThis, 'heardAtLoad', []);
  await tracesOf([], asks);
  // Later lookups are answered later.
  for (let at = 0; at < 2; at += 1) await dns.promises.lookup('localhost');
  expect(Reflect.get(globalThis, 'heardAtLoad')).toEqual([]);
  Reflect.deleteProperty(globalThis, 'heardAtLoad');
});
