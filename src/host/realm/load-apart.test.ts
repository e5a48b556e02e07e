import fs, { mkdirSync, mkdtempSync, realpathSync, stat, writeFileSync } from 'node:fs';
import Module from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { expect, test, vi } from 'vitest';
import { GlobalObjects } from '../async/global-objects.ts';
import { loadVirtually } from '../async/globals.ts';
import { Patches } from '../async/patches.ts';
import { drawersIn, loadApart, requireApart, takeLoadOutput } from './load-apart.ts';
import { ModuleGraph } from './module-graph.ts';

async function graphOf(files: Readonly<Record<string, string>>): Promise<ModuleGraph> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'fencepost-apart-')));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return await ModuleGraph.open(pathToFileURL(join(folder, 'main.mjs')).href);
}

const load = (graph: ModuleGraph): Promise<object> => loadVirtually(() => loadApart(graph));

test.each([
  ['globalThis.cache', 'globalThis.cache = new Map();'],
  ['globalThis.counted', 'globalThis.counted = (globalThis.counted ?? 0) + 1;'],
  ['globalThis.structuredClone', 'globalThis.structuredClone = (value) => value;'],
  ['Array.prototype.map', 'Array.prototype.map = function () { return []; };'],
  ['Array.prototype.last', 'Array.prototype.last = [];'],
  ['Object.prototype.polluted', 'Object.prototype.polluted = true;'],
  ['Math.PI2', 'Math.PI2 = 6;'],
  ['Math.counts', 'Math.counts = Object.freeze({ of: { all: 0 } });'],
  ['Math.kinds', 'Math.kinds = { Busy: class {} };'],
  ['Promise.prototype.finally', 'delete Promise.prototype.finally;'],
  ['Buffer.poolSize', 'Buffer.poolSize = 16;'],
  ['console.lines', 'console.lines = [];'],
  ['crypto.drawn', 'crypto.drawn = 0;'],
  ['net.Socket.uses', 'require("net").Socket.uses = 0;'],
  ['stream.Readable.from.uses', 'require("stream").Readable.from.uses = 0;'],
  ['net.Socket.prototype.uses', 'require("node:net").Socket.prototype.uses = 0;'],
  ['events.created', 'require("events").created = 0;'],
  ['events.prototype.emit', 'require("events").prototype.emit = () => false;'],
  ['%AsyncFunction%.waits', '(async () => {}).constructor.waits = 0;'],
  ['the prototype of Map', 'Object.setPrototypeOf(Map, null);'],
])('a module that changes %s on load is refused by its name', async (what, text) => {
  const before = [globalThis.structuredClone, Array.prototype.map, Promise.prototype.finally];
  const files = {
    'main.mjs': `import './calm.mjs'; import './writes.cjs'; import './calm.cjs';`,
    'calm.mjs': 'export const cache = new Map();',
    'writes.cjs': text,
    'calm.cjs': '',
  };
  const message = `writes.cjs changes ${what} while it is loaded, and all simulated processes would share this`;
  await expect(load(await graphOf(files))).rejects.toThrow(message);
  const graph = await graphOf(files);
  await expect(requireApart(graph, [graph.rootUrl])).rejects.toThrow(message);
  // Everything is restored.
  expect([globalThis.structuredClone, Array.prototype.map, Promise.prototype.finally]).toEqual(
    before,
  );
  expect(Reflect.has(globalThis, 'cache') || Reflect.has({}, 'polluted')).toBe(false);
});

test('a module that changes a global after an await is refused, too', async () => {
  const graph = await graphOf({ 'main.mjs': 'await null; globalThis.late = {};' });
  await expect(load(graph)).rejects.toThrow('main.mjs changes globalThis.late while it is loaded');
});

test('a polyfill is accepted, and so is code that changes nothing', async () => {
  const graph = await graphOf({
    'main.mjs': `Symbol.forTest ??= Symbol('forTest');
Array.prototype.lastForTest ??= function () { return this.at(-1); };
globalThis.structuredClone ??= () => {};
new Response(null); // Node adds what sends requests
Error.kindsForTest ??= Object.freeze({ Busy: class extends Error {} });
export const seen = [1, 2].lastForTest();`,
  });
  expect(await load(graph)).toMatchObject({ seen: 2 });
  await requireApart(graph, [graph.rootUrl]);
  Reflect.deleteProperty(Symbol, 'forTest');
  Reflect.deleteProperty(Error, 'kindsForTest');
  Reflect.deleteProperty(Array.prototype, 'lastForTest');
});

test('each realm may install its own polyfill, as tslib does, but nothing else there', () => {
  const shared = new GlobalObjects();
  for (const polyfill of [(): number => 1, (): number => 2]) {
    Reflect.set(globalThis, '__extendsForTest', polyfill);
    expect(shared.takeBack()).toBe(null);
    shared.renew();
  }
  Reflect.set(globalThis, '__extendsForTest', { calls: 0 });
  expect(shared.takeBack()?.name).toBe('globalThis.__extendsForTest');
  expect(Reflect.get(globalThis, '__extendsForTest')).toBeTypeOf('function');
  Reflect.deleteProperty(globalThis, '__extendsForTest');
});

test('a longer stack, as Bluebird sets it, is restored without an error', async () => {
  const { stackTraceLimit } = Error;
  const graph = await graphOf({
    'main.mjs': 'Error.stackTraceLimit += 6; export const most = Error.stackTraceLimit;',
  });
  expect(await load(graph)).toMatchObject({ most: stackTraceLimit + 6 });
  expect(Error.stackTraceLimit).toBe(stackTraceLimit);
});

test.each<[string, string, () => unknown]>([
  ['Error.prepareStackTrace', 'Error.prepareStackTrace = () => []', () => Error.prepareStackTrace],
  [
    'how modules are found',
    'require("module").prototype.require = () => {}',
    () => Module.prototype.require,
  ],
])('another way to render stacks or to find modules is restored: %s', async (_, code, find) => {
  const kept = Error.prepareStackTrace;
  Error.prepareStackTrace ??= String;
  const before = find();
  const text = `import { createRequire } from 'node:module';
const require = createRequire(import.meta.url); ${code};`;
  await load(await graphOf({ 'main.mjs': text }));
  expect(find()).toBe(before);
  Object.assign(Error, { prepareStackTrace: kept });
});

test('changes by other code between two runs are not attributed to modules', async () => {
  const inLaterTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  for (const pass of [inLaterTurn, () => new Patches().restore()]) {
    const shared = new GlobalObjects();
    expect(shared.takeBack()).toBe(null);
    await pass();
    Reflect.set(globalThis, 'changed', {});
    shared.renew();
    expect(shared.takeBack()).toBe(null);
    Reflect.deleteProperty(globalThis, 'changed');
  }
});

test('a module may change file access, as graceful-fs does, but only for itself', async () => {
  const { close } = fs;
  const text = `import fs from 'node:fs'; const { close } = fs;
fs.close = (...given) => close(...given); fs.queue = []; export const isMine = fs.close !== close;`;
  expect(await load(await graphOf({ 'main.mjs': text }))).toMatchObject({ isMine: true });
  expect([fs.close, 'queue' in fs]).toEqual([close, false]);
});

test('modules that draw on load are listed, but not those that cannot be loaded', async () => {
  const graph = await graphOf({
    'main.mjs': `import './ids.mjs'; import 'draws'; import './later.mjs'; import './calm.mjs';`,
    'ids.mjs': `import { randomUUID } from 'node:crypto'; export const id = randomUUID();`,
    'node_modules/draws/package.json': '{ "main": "./index.js" }',
    'node_modules/draws/index.js': 'exports.seed = Math.random();',
    'later.mjs': 'export const draw = () => Math.random();',
    'calm.mjs': 'export const now = Date.now();',
  });
  expect(await drawersIn(graph, [graph.rootUrl])).toEqual(['ids.mjs', 'draws/index.js']);
  const broken = await graphOf({ 'main.mjs': 'Math.random(); throw new Error();' });
  expect(await drawersIn(broken, [broken.rootUrl])).toEqual([]);
});

test('the output of two modules with one name is reported for each', async () => {
  takeLoadOutput();
  await load(await graphOf({ 'main.mjs': 'console.log(1);' }));
  await load(await graphOf({ 'main.mjs': 'console.log(2);' }));
  expect(takeLoadOutput()).toEqual(['main.mjs | 1', 'main.mjs | 2']);
  expect(takeLoadOutput()).toEqual([]);
});

test('callbacks of the thread itself see the real process meanwhile', async () => {
  const pids: number[] = [];
  const note = (): number => pids.push(process.pid);
  const graph = await graphOf({ 'main.mjs': 'for (let at = 0; at < 1e7; at += 1);' });
  const loading = loadVirtually(async () => {
    setTimeout(note, 1);
    stat('.', note);
    await loadApart(graph);
  });
  await loading;
  await vi.waitUntil(() => pids.length === 2);
  expect(pids).toEqual([process.pid, process.pid]);
});
