/** Calls every function of `fs` while a module is loaded: each reads as in Node, or is refused. */
import fs, {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { loadVirtually } from '../async/globals.ts';
import { loadApart } from './load-apart.ts';
import { ModuleGraph } from './module-graph.ts';

const folder = mkdtempSync(join(tmpdir(), 'fencepost-changes-'));
const code = mkdtempSync(join(tmpdir(), 'fencepost-code-'));

beforeAll(() => {
  mkdirSync(join(folder, 'sub'));
  for (const name of ['a', 'b', 'sub/c']) writeFileSync(join(folder, name), `text of ${name}\n`);
});

/** Returns all entries of a folder, with contents and times. */
function stateOf(path: string): unknown {
  return readdirSync(path, { withFileTypes: true }).map((entry) => {
    const full = join(path, entry.name);
    const { mtimeMs, mode, size } = statSync(full);
    const content = entry.isDirectory() ? stateOf(full) : readFileSync(full, 'utf8');
    return [entry.name, mtimeMs, mode, size, content];
  });
}

let count = 0;

/** Loads a module of this text; returns its exports, or the reason for its refusal. */
async function load(text: string, name = 'm.mjs'): Promise<object | string> {
  count += 1;
  const moduleFolder = join(code, String(count));
  mkdirSync(moduleFolder);
  writeFileSync(join(moduleFolder, name), text);
  const url = pathToFileURL(join(moduleFolder, name)).href;
  try {
    const graph = await ModuleGraph.open(url);
    return await loadVirtually(() => loadApart(graph));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const A = JSON.stringify(join(folder, 'a'));
const B = JSON.stringify(join(folder, 'b'));
const NEW = JSON.stringify(join(folder, 'new'));
const SUB = JSON.stringify(join(folder, 'sub'));

/** Arguments with which one function or another changes something. */
const ARGUMENTS = [
  A,
  `${A}, 'x'`,
  `${NEW}, 'x'`,
  `${A}, ${NEW}`,
  `${A}, 1, 1`,
  `${SUB}, { recursive: true, force: true }`,
  `${NEW}, 0o700`,
  `${A}, 'w+'`,
  `${A}, { flag: 'w+', flags: 'w+' }`,
  `${NEW}, ${fs.constants.O_CREAT}`,
  `fd, 'x'`,
  `fd, 1, 1`,
  'fd',
];

const NAMES = [
  ...Object.keys(fs).map((key) => ['fs', key] as const),
  ...Object.keys(fs.promises).map((key) => ['fs.promises', key] as const),
].filter(([of, key]) => typeof Reflect.get(of === 'fs' ? fs : fs.promises, key) === 'function');

const HEAD = `import fs from 'node:fs';
import { promisify } from 'node:util';
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
const [a, fresh, sub] = [${A}, ${NEW}, ${SUB}];
const fd = fs.openSync(${B}, 'r');
`;

test('no function of fs changes a folder while a module is loaded', async () => {
  const before = stateOf(folder);
  const settle = `const settle = async (made) => {
  if (typeof made?.destroy === 'function') made.on('error', () => {});
  if (typeof made?.then === 'function') await made;
  made?.end?.('x');
};
`;
  const attempts = NAMES.flatMap(([of, key]) => {
    const made = /^[A-Z]/.test(key) ? 'new ' : '';
    const last = made === '' && of === 'fs' && !key.endsWith('Sync') ? ', () => {}' : '';
    return ARGUMENTS.map((given) => {
      return `try { await settle(${made}${of}.${key}(${given}${last})); } catch {}`;
    });
  });
  await load(`${HEAD}${settle}${attempts.join('\n')}\n`);
  expect(stateOf(folder)).toEqual(before);
});

test.each([
  ['fs.writeFileSync', 'fs.writeFileSync(fresh, "x")'],
  ['fs.promises.writeFile', 'fs.promises.writeFile(fresh, "x")'],
  ['fs.mkdtemp', 'fs.mkdtemp(fresh, () => {})'],
  ['fs.cpSync', 'fs.cpSync(a, fresh)'],
  ['fs.promises.symlink', 'fs.promises.symlink(a, fresh)'],
  ['fs.utimes', 'fs.utimes(a, 1, 1, () => {})'],
  ['fs.futimesSync', 'fs.futimesSync(fd, 1, 1)'],
  ['fs.fchmod', 'fs.fchmod(fd, 0o600, () => {})'],
  ['fs.createWriteStream', 'fs.createWriteStream(fresh)'],
  ['new fs.WriteStream', 'new fs.WriteStream(fresh)'],
  ['new fs.WriteStream', 'new fs.WriteStream.prototype.constructor(fresh)'],
  ['fs.createReadStream', 'fs.createReadStream(a, { flags: "w" })'],
  ['fs.openSync', 'fs.openSync(fresh, fs.constants.O_CREAT)'],
  ['fs.promises.open', 'fs.promises.open(a, "r+")'],
  ['fs.readFileSync', 'fs.readFileSync(a, { flag: "w+" })'],
  ['fs.closeSync', 'fs.closeSync(0)'],
  ['fs.watch', 'fs.watch(a)'],
  ['process.chdir', 'process.chdir(sub)'],
  ['process.report.writeReport', 'process.report.writeReport(fresh)'],
  ['process.binding', 'process.binding("fs")'],
  ['inspector.open', 'require("module")._load("inspector").open()'],
  ['child_process.execSync', 'require("child_process").execSync("touch x")'],
  ['new worker_threads.Worker', 'new (require("worker_threads").Worker.prototype.constructor)("")'],
  ['v8.writeHeapSnapshot', 'require("v8").writeHeapSnapshot(fresh)'],
  ['net.Server.listen', 'require("net").createServer().listen(fresh)'],
  ['dns.resolve', 'require("dns").resolve("localhost", () => {})'],
  // From code that Node calls, or that continues after real work.
  [
    'fs.writeFileSync',
    'await new Promise((go) => fs.realpath.native(a, go)); fs.writeFileSync(a, "")',
  ],
  ['fs.rmSync', 'const dir = await fs.promises.opendir(sub); await dir.read(); fs.rmSync(a)'],
  ['fs.rmSync', 'for await (const one of await fs.promises.opendir(sub)) fs.rmSync(a)'],
  ['fs.rmSync', 'fs.readFile(a, () => fs.rmSync(a))'],
  ['fs.promises.rm', 'fs.promises.readFile(a).then(() => fs.promises.rm(a))'],
  ['fs.rmSync', 'fs.createReadStream(a).on("data", () => fs.rmSync(a))'],
  ['fs.rmSync', 'queueMicrotask(() => fs.rmSync(a))'],
  ['FileHandle.chmod', 'const file = await fs.promises.open(a); await file.chmod(0o600)'],
  ['FileHandle.createWriteStream', '(await fs.promises.open(a)).createWriteStream()'],
])('%s is refused by name, even if the module catches the error: %s', async (called, text) => {
  const before = stateOf(folder);
  for (const line of [text, `try { ${text} } catch {}`]) {
    const problem = await load(`${HEAD}${line};\n`);
    const place = String.raw`\S+m\.mjs:7:\d+`;
    expect(problem).toMatch(new RegExp(` leaves the simulated world: ${called} at ${place}`));
  }
  expect(stateOf(folder)).toEqual(before);
});

test.each([
  'process.nextTick(fs.rmSync, a)',
  'setImmediate(fs.rmSync, a)',
  'setTimeout(fs.rmSync, 0, a)',
])('a function that Node itself calls changes nothing: %s', async (text) => {
  const before = stateOf(folder);
  await load(`${HEAD}${text};\n`);
  await new Promise((go) => setTimeout(go, 5));
  expect(stateOf(folder)).toEqual(before);
});

/** Expressions that read, or promises of what they read. */
const READINGS = [
  'fs.readFileSync(a, "utf8")',
  'fs.readFileSync(a, { flag: "rs" }).length',
  'fs.promises.readFile(a, { encoding: "utf8" })',
  'promisify(fs.readFile)(a, "latin1")',
  'promisify(fs.exists)(fresh)',
  'promisify(fs.read)(fd, Buffer.alloc(4), 0, 4, 0)',
  'promisify(fs.readv)(fd, [Buffer.alloc(4)], 0)',
  'new Promise((go) => fs.read(fd, { length: 3, position: 1 }, (...all) => go(all.slice(0, 2))))',
  'fs.readdirSync(sub)',
  'fs.promises.readdir(sub, { withFileTypes: true }).then((all) => all.map(String).length)',
  'promisify(fs.readdir)(sub, { recursive: true })',
  'fs.promises.stat(a).then(({ size }) => size)',
  'promisify(fs.lstat)(a, { bigint: true }).then(({ size }) => size)',
  'fs.promises.realpath(a)',
  'fs.promises.readlink(a).catch(({ code }) => code)',
  'fs.promises.access(fresh).catch(({ code, syscall }) => [code, syscall])',
  'promisify(fs.stat)(fresh).catch(({ code, message }) => [code, message])',
  'fs.promises.statfs(a).then(({ bsize }) => bsize)',
  '(() => { try { fs.stat(1, () => {}); } catch ({ code }) { return code; } })()',
  '(() => { try { fs.readFile(a); } catch ({ code }) { return code; } })()',
  'fs.promises.readFile(1.5).catch(({ code }) => code)',
  'fs.promises.opendir(sub).then(async (dir) => (await dir.read()).name)',
  'fs.promises.open(a).then(async (file) => [await file.readFile("utf8"), await file.close()])',
  'fs.promises.open(a).then(async (file) => (await file.read(Buffer.alloc(3), 0, 3, 0)).buffer)',
  'fs.promises.open(a).then(async (file) => (await file.read({ length: 2 })).bytesRead)',
  'fs.promises.open(a).then(async (file) => (await file.stat()).size)',
  'fs.promises.open(a).then((file) => fs.promises.readFile(file, "utf8"))',
  'WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])).then(String)',
  'WebAssembly.instantiate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])).then(Object.keys)',
  'WebAssembly.instantiate(new Uint8Array([0])).catch(({ name }) => name)',
  'new Promise((go) => fs.createReadStream(a, { end: 3 }).on("data", go))',
  'new Promise((go) => new fs.ReadStream(a, "utf8").on("data", go))',
];

test.each(READINGS)('an expression reads as in Node: %s', async (text) => {
  const loaded = await load(`${HEAD}export const made = await (${text});\n`);
  const names = ['fs', 'promisify', 'a', 'fresh', 'sub', 'fd'];
  const given = [fs, promisify, ...['a', 'new', 'sub'].map((name) => join(folder, name))];
  const fd = fs.openSync(join(folder, 'b'), 'r');
  const made: unknown = await new Function(...names, `return ${text};`)(...given, fd);
  fs.closeSync(fd);
  expect(typeof loaded === 'string' ? loaded : Reflect.get(loaded, 'made')).toEqual(made);
});
