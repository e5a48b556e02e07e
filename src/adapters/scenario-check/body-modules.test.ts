import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, expectTypeOf, test } from 'vitest';
import type { Trace } from '../../core/history/trace.ts';
import { runAsync } from '../../host/async/run-async.ts';
import { digestOf } from '../../run.ts';
import { expand } from '../../scenario/expand.ts';
import { type SimTest, simTest } from '../vitest/sim-test.ts';
import { BodyModules } from './body-modules.ts';
import { type Body, checkOptions } from './options.ts';
import { lockOfBody, Mistakes, readSubject, type TestSubject } from './subject.ts';

interface Counter {
  readonly owner: string;
  readonly next: () => number;
}

const COUNTER = `import { shared } from './shared.ts';
export const owner: string = \`\${process.pid} \${Math.random()}\`;
let count: number = 0;
export const next = (): number => shared.push(count++);
`;

const folder = mkdtempSync(join(tmpdir(), 'fencepost-modules-'));
writeFileSync(join(folder, 'counter.ts'), COUNTER);
writeFileSync(join(folder, 'other.mjs'), `export { shared } from './shared.ts'; await null;`);
writeFileSync(join(folder, 'shared.ts'), 'export const shared: number[] = [];');

type Handles = Parameters<Body<object, { modules: { counter: Counter; other?: object } }>>[1];

/** Runs sections whose body gets these modules, and logs their state. */
async function traceOf(given: Readonly<Record<string, string>>, seed: number): Promise<Trace> {
  const body = async (_: unknown, { modules, client }: Handles): Promise<void> => {
    const { counter, other } = modules;
    const kept = other === undefined ? '' : String(Reflect.get(other, 'shared').length);
    client.log('module', `${counter.owner} ${counter.next()} ${kept}`);
  };
  const options = { clients: { count: 2, sections: 2 }, faults: [], modules: given };
  const modules = new BodyModules(given);
  const lock = lockOfBody<object, { modules: { counter: Counter } }, []>({}, body, [], modules);
  const source = { folder, slug: 'a-test', mistakes: new Mistakes() };
  const { scenario, catalogue, systems } = await readSubject(
    checkOptions(options, lock, modules),
    source,
  );
  return runAsync(expand(scenario, systems[0]?.name ?? '', seed), catalogue);
}

function saidIn({ events }: Trace): readonly string[] {
  return events.flatMap((event) =>
    event.kind === 'log' && event.topic === 'module' ? [`${event.process} ${event.text}`] : [],
  );
}

test('each process has its own instances of a test’s modules, new for each seed', async () => {
  const first = await traceOf({ counter: './counter.ts' }, 1);
  const said = saidIn(first).filter((line) => !line.startsWith('probe'));
  expect(said.map((line) => line.split(' ').at(-2))).toEqual(['1', '2', '1', '2']);
  expect(new Set(said.map((line) => line.split(' ').slice(1, 3).join())).size).toBe(2);
  expect(digestOf(await traceOf({ counter: './counter.ts' }, 1))).toBe(digestOf(first));
  expect(saidIn(await traceOf({ counter: './counter.ts' }, 2))).not.toEqual(saidIn(first));
});

test('modules of one test share their common imports, even if one awaits', async () => {
  const trace = await traceOf({ counter: './counter.ts', other: './other.mjs' }, 1);
  const said = saidIn(trace).filter((line) => !line.startsWith('probe'));
  expect(said.map((line) => line.split(' ').slice(-2).join())).toEqual([
    '1,0',
    '2,1',
    '1,0',
    '2,1',
  ]);
});

test('a value that is not a path, or a missing file, is reported with its name', async () => {
  expect(() => new BodyModules({ lock: 'my-lock' })).toThrow('modules.lock: expected a path');
  expect(() => new BodyModules('my-lock')).toThrow('modules: expected names with paths');
  const missing = new BodyModules({ lock: './gone.ts' });
  await expect(missing.open(folder)).rejects.toThrow('gone.ts');
});

const DRIVER = `import net from 'node:net';
const socket = net.connect(6379, 'redis-1');
export const ping = () => new Promise((resolve) => {
  socket.once('data', (reply) => resolve(String(reply).trim()));
  socket.write('PING\\r\\n');
});
`;

test('a test’s module connects to the hosts in `hosts`, and its body adds no server', async () => {
  writeFileSync(join(folder, 'driver.mjs'), DRIVER);
  type Driver = { modules: { driver: { ping: () => Promise<string> } } };
  const body: Body<object, Driver> = async (_, { modules, client }) => {
    client.log('module', await modules.driver.ping());
  };
  const options = { clients: 1, faults: [], modules: { driver: './driver.mjs' } };
  const read = async (hosts: Readonly<Record<string, string>>): Promise<TestSubject> => {
    const modules = new BodyModules(options.modules);
    const lock = lockOfBody<object, Driver, []>({}, body, [], modules);
    const source = { folder, slug: 'a-test', mistakes: new Mistakes() };
    return await readSubject(checkOptions({ ...options, hosts }, lock, modules), source);
  };
  const { scenario, catalogue, systems } = await read({ 'redis-1:6379': 'lock' });
  expect(systems[0]).toMatchObject({ servers: ['lock'], operations: ['ping'] });
  const trace = await runAsync(expand(scenario, systems[0]?.name ?? '', 1), catalogue);
  expect(saidIn(trace)[0]).toBe('alice +PONG');
  await expect(read({ 'redis-1:6379': 'redis' })).rejects.toThrow(
    'hosts["redis-1:6379"]: unknown server "redis"; a lock\'s servers are called lock, or lock-1',
  );
});

test('the types of modules are those that a test declares', () => {
  const written = (define: SimTest): void => {
    const options = { faults: [], modules: { counter: './counter.ts' } } as const;
    define<{ counter: Counter }>('typed', options, async (_, { modules }) => {
      expectTypeOf(modules.counter.next).toEqualTypeOf<() => number>();
    });
    define('untyped', options, async (_, { modules }) => {
      expectTypeOf(modules).toEqualTypeOf<{ counter: unknown }>();
    });
  };
  expect(written).toBeTypeOf('function');
  expect(simTest).toBeTypeOf('function');
});
