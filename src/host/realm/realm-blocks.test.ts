import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { ambient, type CurrentProcess } from '../async/ambient.ts';
import { virtualizeGlobals } from '../async/globals.ts';
import { Incarnation } from '../async/incarnation.ts';
import { ModuleGraph } from './module-graph.ts';
import { RealmBlock } from './realm-blocks.ts';

/** Returns the graph of a module that imports these modules of a package. */
async function graphOf(modules: Readonly<Record<string, string>>): Promise<ModuleGraph> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'fencepost-blocks-')));
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  put('node_modules/pack/package.json', '{ "name": "pack" }');
  for (const [name, text] of Object.entries(modules)) put(`node_modules/pack/${name}`, text);
  put('own.mjs', 'export const made = {};');
  const imports = Object.keys(modules).map((name, at) => `import * as m${at} from 'pack/${name}';`);
  const names = Object.keys(modules).map((_, at) => `m${at}`);
  put(
    'main.mjs',
    `import { made } from './own.mjs';\n${imports.join('\n')}\nexport const all = [${['made', ...names]}];`,
  );
  return await ModuleGraph.open(pathToFileURL(join(folder, 'main.mjs')).href);
}

/** A process with all that a module may use on load. */
const process: CurrentProcess = Object.assign(Object.create(Incarnation.prototype), {
  process: { name: 'alice', clock: { wallUs: () => 0, monotonicUs: () => 0 } },
  parts: { scheduler: { nowUs: 0 }, choices: { streamOf: () => 0 } },
  drawn: new Map(),
  ordinal: 1,
  readings: 0,
  jobs: 0,
  isOver: false,
  network: null,
  timers: { set: () => ({ unref: () => {} }) },
});

/** Returns the modules, with `own.mjs`, that the second run of a block reuses from the first. */
async function usedAgain(modules: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const graph = await graphOf(modules);
  const block = new RealmBlock();
  const restore = virtualizeGlobals();
  const load = async (): Promise<readonly unknown[]> => {
    ambient.current = process;
    try {
      const loaded = block.take(graph, 'alice/1').load();
      ambient.current = null;
      return Reflect.get(await loaded, 'all');
    } finally {
      ambient.current = null;
    }
  };
  try {
    const first = await load();
    const second = await load();
    const names = ['own.mjs', ...Object.keys(modules)];
    return names.filter((_, at) => instanceOf(first[at]) === instanceOf(second[at]));
  } finally {
    restore();
  }
}

/** Returns the object that a module created on load. */
function instanceOf(exports: unknown): unknown {
  const namespace = Object(exports);
  const made = 'default' in namespace ? namespace.default : namespace;
  return 'made' in Object(made) ? made.made : made;
}

test('a package module without effects on load is reused, and a user module is not', async () => {
  const modules = {
    'plain.js': 'exports.made = {};',
    'uses.mjs': `import { made as other } from './plain.js'; export const made = { other };`,
    'data.json': '{ "made": {} }',
  };
  expect(await usedAgain(modules)).toEqual(['plain.js', 'uses.mjs', 'data.json']);
});

test.each([
  ['draws', 'exports.made = { id: Math.random() };'],
  ['draws by crypto', 'exports.made = { id: require("crypto").randomUUID() };'],
  ['reads the clock', 'exports.made = { at: Date.now() };'],
  ['makes a date', 'exports.made = { at: new Date() };'],
  ['measures', 'exports.made = { at: performance.now() };'],
  ['reads its pid', 'exports.made = { pid: process.pid };'],
  ['reads its host', 'exports.made = { host: require("os").hostname() };'],
  ['sets a timer', 'exports.made = {}; setTimeout(() => {}, 1);'],
  ['sets a tick', 'exports.made = {}; process.nextTick(() => {});'],
  ['sets a microtask', 'exports.made = {}; queueMicrotask(() => {});'],
  ['listens to process', 'exports.made = {}; process.once("exit", () => {});'],
  ['counts listeners', 'exports.made = { isFirst: process.listenerCount("SIGTERM") === 0 };'],
  ['sets a variable', 'exports.made = {}; process.env.PACK = "loaded";'],
  ['replaces a function of process', 'exports.made = {}; process.emit = () => {};'],
  [
    'sets a default',
    'const e = require("events"); exports.made = {}; e.captureRejections = !e.captureRejections;',
  ],
  ['makes a promise', 'exports.made = { ready: Promise.resolve(1) };'],
  ['calls an async function', 'exports.made = {}; (async () => {})();'],
])('a module that %s on load is loaded again, with its importers', async (_, text) => {
  const modules = {
    'impure.js': text,
    'uses.js': `exports.made = { other: require('./impure.js') };`,
    'uses-it.mjs': `import other from './uses.js'; export const made = { other };`,
    'plain.js': 'exports.made = {};',
  };
  expect(await usedAgain(modules)).toEqual(['plain.js']);
});

test('a module that awaits on load is loaded again', async () => {
  expect(await usedAgain({ 'waits.mjs': 'await null; export const made = {};' })).toEqual([]);
});

test('a module in an import cycle with one that draws is loaded again', async () => {
  const modules = {
    'a.js': `exports.made = {}; exports.b = require('./b.js');`,
    'b.js': `exports.made = {}; exports.a = require('./a.js'); Math.random();`,
  };
  expect(await usedAgain(modules)).toEqual([]);
});
