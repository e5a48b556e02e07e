import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, expectTypeOf, test } from 'vitest';
import type { Trace } from '../../core/history/trace.ts';
import { runAsync } from '../../host/async/run-async.ts';
import { digestOf } from '../../run.ts';
import { expand } from '../../scenario/expand.ts';
import { BodyModules } from './body-modules.ts';
import { type Body, checkOptions } from './options.ts';
import { type SimTest, simTest } from './sim-test.ts';
import { lockOfBody, Mistakes, readSubject } from './subject.ts';

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

/** What the sections of a run say, whose body is handed these modules. */
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

test('each process has own instances of a test’s modules, and each seed has', async () => {
  const first = await traceOf({ counter: './counter.ts' }, 1);
  const said = saidIn(first).filter((line) => !line.startsWith('probe'));
  expect(said.map((line) => line.split(' ').at(-2))).toEqual(['1', '2', '1', '2']);
  expect(new Set(said.map((line) => line.split(' ').slice(1, 3).join())).size).toBe(2);
  expect(digestOf(await traceOf({ counter: './counter.ts' }, 1))).toBe(digestOf(first));
  expect(saidIn(await traceOf({ counter: './counter.ts' }, 2))).not.toEqual(saidIn(first));
});

test('modules of one test share what both import, also where one awaits', async () => {
  const trace = await traceOf({ counter: './counter.ts', other: './other.mjs' }, 1);
  const said = saidIn(trace).filter((line) => !line.startsWith('probe'));
  expect(said.map((line) => line.split(' ').slice(-2).join())).toEqual([
    '1,0',
    '2,1',
    '1,0',
    '2,1',
  ]);
});

test('what is no path, or leads nowhere, is told by its name', async () => {
  expect(() => new BodyModules({ lock: 'my-lock' })).toThrow('modules.lock: expected a path');
  expect(() => new BodyModules('my-lock')).toThrow('modules: expected names with paths');
  const missing = new BodyModules({ lock: './gone.ts' });
  await expect(missing.open(folder)).rejects.toThrow('gone.ts');
});

test('the types of modules are those that a test says', () => {
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
