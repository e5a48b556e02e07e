/** Unmodified drivers and packages of npm, on virtual sockets. */
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import type { Trace } from '../../core/history/trace.ts';
import { digestOf } from '../../run.ts';
import { expand } from '../../scenario/expand.ts';
import { renderProblem } from '../../text/problem.ts';
import { examineAsync, runAsync, shrinkFailureAsync } from '../async/run-async.ts';
import { readScenarioSource, type ScenarioFileRead } from '../modules/load-files.ts';

type Loaded = Extract<ScenarioFileRead, { readonly kind: 'scenario' }>;

const LOCKS = ['own', 'ioredis', 'secure', 'redlock-5', 'notified'];

const PAUSES = `
  - pause: { process: clients, before: write, for: 1ms..60ms, chance: 1/2 }
  - pause: { process: clients, for: 1ms..60ms, chance: 1/4 }`;

async function loaded(faults: string): Promise<Loaded> {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  const systems = LOCKS.map((lock) => `  ${lock}: { lock: ${lock}, store: unfenced }`);
  const text = `name: drivers
use: ./drivers.fixture.mjs
systems:
${systems.join('\n')}
clients: { count: 3, ttl: 20ms, sections: 2, think: 0ms..10ms }
workload: { kind: read-modify-write }
network: { latency: 1ms..2ms }
faults: ${faults}
`;
  const read = await readScenarioSource({ file: 'drivers.yaml', text }, { kind: 'folder', folder });
  if (read.kind === 'problems') throw new Error(read.problems.map(renderProblem).join('\n'));
  return read;
}

function runSeed({ scenario, catalogue }: Loaded, system: string, seed: number): Promise<Trace> {
  return runAsync(expand(scenario, system, seed), catalogue);
}

let paused: Loaded;
beforeAll(async () => {
  paused = await loaded(PAUSES);
});

/** Returns the names of all operations of clients. */
function callsIn(trace: Trace): readonly string[] {
  return trace.events.flatMap(({ kind, ...event }) =>
    kind === 'invoke' && 'operation' in event ? [event.operation] : [],
  );
}

test.each(LOCKS)('%s takes the lock, and repeats its traces after a reload', async (lock) => {
  const again = await loaded(PAUSES);
  for (let seed = 0; seed < 4; seed += 1) {
    const trace = await runSeed(paused, lock, seed);
    expect(trace.ending).toEqual({ kind: 'complete' });
    expect(digestOf(await runSeed(again, lock, seed))).toBe(digestOf(trace));
    expect(callsIn(trace).filter((name) => /\/write/.test(name)).length).toBeGreaterThan(2);
  }
});

test('a driver command is one call with its name, as with fencepost’s own client', async () => {
  const calm = await loaded('[]');
  const [virtual, driver] = await Promise.all(
    ['own', 'ioredis'].map(async (lock) => callsIn(await runSeed(calm, lock, 1))),
  );
  const isOfSection = (name: string): boolean => /^\w+\/\d+\/(?:set|eval|read|write)$/.test(name);
  const inSections = (names: readonly string[] = []): readonly string[] =>
    [...new Set(names.filter(isOfSection))].sort();
  expect(inSections(driver)).toEqual(inSections(virtual));
  expect(inSections(driver).length).toBeGreaterThan(12);
  expect(driver).toContain('alice/1/connect');
});

test('a lock has the same boundary on ioredis as on fencepost’s own client', async () => {
  const { scenario, catalogue } = paused;
  const boundaries: number[] = [];
  for (const lock of ['own', 'ioredis']) {
    for (let seed = 0; ; seed += 1) {
      const plan = expand(scenario, lock, seed);
      const { verdicts } = await examineAsync(plan, ['grant-order'], catalogue);
      if (verdicts[0]?.kind !== 'invalid') continue;
      const { boundary } = await shrinkFailureAsync(plan, 'grant-order', { catalogue });
      boundaries.push(boundary?.breaksAtUs ?? 0);
      break;
    }
  }
  const [virtual = 0, driver = 0] = boundaries;
  expect(virtual).toBeGreaterThan(20_000);
  expect(Math.abs(virtual - driver)).toBeLessThanOrEqual(5);
});

test('after a lost reply, ioredis retries, and its own lock denies the retry', async () => {
  const dropped = await loaded('[{ drop: { chance: 1/12 } }]');
  let denied = 0;
  for (let seed = 0; seed < 20; seed += 1) {
    const trace = await runSeed(dropped, 'ioredis', seed);
    expect(trace.ending.kind).toBe('complete');
    if (isDeniedByItself(trace)) denied += 1;
  }
  expect(denied).toBeGreaterThan(0);
});

/** Returns true if a granted SET is sent again with the same value, and denied. */
function isDeniedByItself(trace: Trace): boolean {
  const granted = new Set<string>();
  const asked = new Map<string, string>();
  for (const event of trace.events) {
    if (event.kind !== 'send') continue;
    const body = JSON.stringify(event.body);
    const value = /"set","\w+","([0-9a-f-]{36})"/i.exec(body)?.[1];
    if (value !== undefined) asked.set(event.message.replace(/request$/, 'reply'), value);
    const of = asked.get(event.message);
    if (of === undefined || !event.message.endsWith('reply')) continue;
    if (body.includes('OK')) granted.add(of);
    else if (granted.has(of)) return true;
  }
  return false;
}
