/** Compares a realm with Node itself, which runs the same files in a separate process. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { ModuleGraph } from './module-graph.ts';
import { Realm } from './realm.ts';

type Files = Readonly<Record<string, string>>;

function folderWith(files: Files): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'fencepost-realm-')));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

function openIn(folder: string, name = 'main.mjs'): Promise<ModuleGraph> {
  return ModuleGraph.open(pathToFileURL(join(folder, name)).href);
}

async function resultIn(graph: ModuleGraph): Promise<unknown> {
  const namespace = await new Realm(graph).load();
  return JSON.parse(JSON.stringify(await Reflect.get(namespace, 'result')));
}

function resultInNode(folder: string): unknown {
  const url = pathToFileURL(join(folder, 'main.mjs')).href;
  const script = `console.log(JSON.stringify(await (await import('${url}')).result))`;
  const args = ['--no-warnings', '--input-type=module', '-e', script];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

/** Programs whose `result` shows what they see. */
const PROGRAMS: Readonly<Record<string, Files>> = {
  'names of all kinds': {
    'main.mjs': `import first, { a, b as c, default as again, 'a b' as odd } from './a.mjs'
import * as all from './a.mjs'
export { a as renamed } from './a.mjs'
export * from './a.mjs'
export * as whole from './a.mjs'
import * as self from './main.mjs'
export const result = [first(), a, c(), again === first, odd, Object.keys(all), Reflect.ownKeys(self).length, first.name]`,
    'a.mjs': `export const a = 1, { x, y: [z] } = { x: 2, y: [3] }
export function b() { return x + z }
export default function () { return this === undefined }
export { a as 'a b' }
export class K {}`,
  },
  'a value that changes later': {
    'main.mjs': `import { count, bump, both, last, reset } from './a.mjs'
import * as all from './a.mjs'
const seen = [count]
bump(); seen.push(count, all.count)
seen.push(both(), count, last)
reset(); seen.push(count, last)
export const result = seen`,
    'a.mjs': `export let count = 0, last
export function bump() { count += 1 }
export const both = () => (last = count++, [count = count + 1, last])
export function reset() { { let count = 9; count += 1 } for (let last = 0; last < 2; last += 1) {} if (last) count = 0; else last = 1 }`,
  },
  'modules on a circle': {
    'main.mjs': `import { isEven } from './even.mjs'
import { late } from './odd.mjs'
export const result = [isEven(10), isEven(7), late()]`,
    'even.mjs': `import { isOdd, name } from './odd.mjs'
export function isEven(n) { return n === 0 || isOdd(n - 1) }
export const label = 'even of ' + name
export default class Even { static is = isEven(2) }`,
    'odd.mjs': `import { isEven, label } from './even.mjs'
import Even from './even.mjs'
export const name = 'odd', early = isEven(0)
export function isOdd(n) { return n !== 0 && isEven(n - 1) }
export const late = () => [label, early, Even.is]`,
  },
  'CommonJS and ES modules in one another': {
    'main.mjs': `import script, { named } from './script.cjs'
import * as all from './script.cjs'
import data from './data.json' with { type: 'json' }
import { createRequire } from 'node:module'
import { join } from 'path'
import path from 'node:path'
const require = createRequire(import.meta.url)
export const result = [script.named, named, all.default === script, data, require('./script.cjs') === script,
  require('./data.json') === script.data, join('a', 'b') === path.join('a', 'b'), require('./es.mjs').answer]`,
    'script.cjs': `exports.named = typeof require + typeof module + (this === exports) + require.resolve('fs')
exports.data = require('./data.json')
exports.file = [__filename.endsWith('script.cjs'), require('./circle.cjs').seen, module.id === __filename]`,
    'circle.cjs': `exports.seen = typeof require('./script.cjs').named`,
    'data.json': `{"a": [1, {"b": null}]}`,
    'es.mjs': `export const answer = 42`,
  },
  'imports that are made later': {
    'main.mjs': `const name = './later.mjs'
async function load() {
  const one = await import(name), two = await import('./later.mjs'), { go } = await import('./script.cjs')
  return [one === two, one.default, (await go()).default, await import('./gone.mjs').catch((e) => e.code)]
}
export const result = load()`,
    'later.mjs': `export default import.meta.url.split('/').at(-1) + import.meta.filename.endsWith('later.mjs')`,
    'script.cjs': `exports.go = () => import('./later.mjs')`,
  },
  'waiting at the top level': {
    'main.mjs': `import { a } from './a.mjs'
import { b } from './b.mjs'
for await (const x of [a, b]) globalThis.process.nextTick(() => {}, x)
export const result = [a, b, await Promise.resolve(3)]`,
    'a.mjs': `await new Promise((go) => setTimeout(go, 5)); export const a = 1`,
    'b.mjs': `import { a } from './a.mjs'; export const b = a + 1`,
  },
  'packages and their conditions': {
    'main.mjs': `import kind from 'pack'
import { createRequire } from 'module'
import sub from 'pack/sub'
import own from '#own'
export const result = [kind, createRequire(import.meta.url)('pack'), sub, own]`,
    'package.json': `{"imports": {"#own": "./own.mjs"}}`,
    'own.mjs': `export default 'own'`,
    'node_modules/pack/package.json': `{"name": "pack", "exports": {".": {"import": "./es.mjs", "require": "./c.js"}, "./*": "./lib/*.js"}}`,
    'node_modules/pack/es.mjs': `export default 'es'`,
    'node_modules/pack/c.js': `module.exports = 'script'`,
    'node_modules/pack/lib/sub.js': `module.exports = 'sub'`,
  },
  'statements without a semicolon between': {
    'main.mjs': `import { a } from './a.mjs'
(() => {})()
const b = a
export { b }
;[1].forEach(() => {})
const c = b
export default c
export const result = [a, b, c]`,
    'a.mjs': `export default function () {}
export const a = 1
export default_name
var default_name`.replace('export default_name\n', 'export { default_name as d }\n'),
  },
  'a default export before a statement in parentheses': {
    'main.mjs': `import A, { seen } from './a.mjs'
import f from './f.mjs'
import * as again from './main.mjs'
export const result = [typeof A, A.name, typeof f, f(), seen]
export default class {}
[1].forEach(() => {})`,
    'a.mjs': `export const seen = []
export default class { static x = 1 }
(() => { seen.push('ran') })()`,
    'f.mjs': `export default function () { return 'f' }
(1, [2])`,
  },
  'a default export in parentheses, or with comments': {
    'main.mjs': `import object from './object.mjs'
import listed from './listed.mjs'
import f from './f.mjs'
import g from './g.mjs'
import Klass from './class.mjs'
import comments from './comments.mjs'
import lines from './lines.mjs'
export const result = [object, listed, f(), f.name, g(), g.name, Klass.name, comments(), typeof lines]`,
    'object.mjs': 'export default ({ patienceMs: 500 });',
    'listed.mjs': 'export default/** @type {any} */ (1, 2)',
    'f.mjs': `export default (() => 3)
;[1].forEach(() => {})`,
    'g.mjs': `export default (function named() { return 'g' })`,
    'class.mjs': 'export default (class {})',
    'comments.mjs': `export /* default */ default // function (
function /* so */ () { return new Error('x').stack.match(/comments.mjs:[0-9]+:[0-9]+/)[0] }`,
    'lines.mjs': `export
default

async
function* () {}
export const later = 1`.replace('async\n', 'async '),
  },
  'functions without a name on a circle': {
    'main.mjs': `import { seen } from './b.mjs'
export default function (a, { b } = {}) { return [a, b] }
export const result = seen`,
    'b.mjs': `import f from './main.mjs'
import g from './g.mjs'
export const seen = [f.name, f(1, { b: 2 }), typeof g, g.name, f.length]`,
    'g.mjs': `import './b.mjs'
export default async function* () {}`,
  },
  'an import that is exported': {
    'main.mjs': `import { x, y, all, first, bump } from './middle.mjs'
import * as middle from './middle.mjs'
const seen = [x, y, middle.x]
bump()
export const result = [...seen, x, y, middle.x, middle.y, all.x, first, Object.keys(middle)]`,
    'middle.mjs': `export { x, x as y, all, first }
import first, { x, bump } from './s.mjs'
import * as all from './s.mjs'
export { bump }`,
    's.mjs': `export let x = 1
export function bump() { x += 1 }
export default 'first'`,
  },
  'a variable that a loop changes': {
    'main.mjs': `import { x, y, z, key, run } from './a.mjs'
export const result = run(() => [x, y, z, key])`,
    'a.mjs': `export let x, y, key
export var z = 0
let other = 0
export function run(see) {
  const seen = []
  for (x of [1, 2]) { seen.push(see()) }
  for (x of [3]) other++, seen.push(see())
  for ([x, { y }] of [[4, { y: 5 }]]) for (key in { a: 1, b: 2 }) seen.push(see())
  for (const x of [9]) for (let y of [9]) seen.push(see())
  return seen.concat([see(), other])
}
for (var z of [7, 8]);`,
  },
  'a value that a keyword is right before': {
    'main.mjs': `import { x, next } from './a.mjs'
export const result = [next(), x, next(), x]`,
    'a.mjs': 'export let x = 0; export function next(){return++x}',
  },
  'what a class without a name is called while it is made': {
    'main.mjs': `import A from './a.mjs'
import B, { where } from './b.mjs'
import C from './c.mjs'
export const result = [A.own, A.name, A.at(), B.own, B.name, where, C.own]`,
    'a.mjs': `export default class { static own = this.name; static at() { return place(new Error()) } }
const place = ({ stack }) => /a.mjs:\\d+:\\d+/.exec(stack)[0]`,
    'b.mjs': `export
default class { static own = this.name } export const where = 1`,
    'c.mjs': 'export\n default /* a */     class { static own = this.name };',
  },
  'a name of a field that a module waits for': {
    'main.mjs': `class A { [await Promise.resolve('x')] = 1 }
export const result = new A().x`,
  },
  'a script with names that the rewriting has, and a target at its top': {
    'main.mjs': `import script from './script.cjs'
export const result = script`,
    'script.cjs': `const $fproom = 1, $fpimp = 2
module.exports = [$fproom, $fpimp, new.target === undefined, typeof import('./script.cjs').then]`,
  },
  'modules on a circle that one waits in': {
    'main.mjs': `import { a, seen } from './a.mjs'
export const result = [a, seen]`,
    'a.mjs': `import { seen as list, b } from './b.mjs'
import './d.mjs'
export const a = 1
export const seen = [...list, 'a', b]`,
    'b.mjs': `import { c } from './c.mjs'
import './a.mjs'
import './d.mjs'
export const b = 2
export const seen = ['b', c]`,
    'c.mjs': `import './b.mjs'
await 0
export const c = 3`,
    'd.mjs': `import './c.mjs'
import './a.mjs'
await 0
export const d = 4`,
  },
};

test.each(Object.entries(PROGRAMS))(
  '%s have the same result in a realm as in Node',
  async (_, files) => {
    const folder = folderWith(files);
    expect(await resultIn(await openIn(folder))).toEqual(resultInNode(folder));
  },
);

test('each realm has its own module state', async () => {
  const folder = folderWith({
    'main.mjs': `import { table } from './table.mjs'; import list from './list.cjs'
table.set(table.size, 1); list.push(1); export const result = [table.size, list.length]`,
    'table.mjs': `export const table = new Map()`,
    'list.cjs': `module.exports = []`,
  });
  const graph = await openIn(folder);
  expect([await resultIn(graph), await resultIn(graph)]).toEqual([
    [1, 1],
    [1, 1],
  ]);
});

const PLACED = `import { a } from './a.mjs'; const early = new Error('1');
export default early; export const later = () => new Error('2');
export { a }; /* a comment */ const meta = import.meta.url, again = () => new Error('3');
export let count = 0; const after = new Error('4');
count = 1;
export async function load() { await import('./a.mjs'); return new Error('5'); }
export const stacks = async () => [early, later(), again(), after, await load(), a()].map((e) => e.stack)
export const result = stacks().then((all) => all.map((one) => /\\w+\\.mjs:\\d+:\\d+/.exec(one)[0]))`;

test('every place has the line and the column of its file', async () => {
  const folder = folderWith({
    'main.mjs': PLACED,
    'a.mjs': `\nexport function a() { return new Error('6') }`,
  });
  const places = await resultIn(await openIn(folder));
  expect(places).toEqual(resultInNode(folder));
  expect(places).toHaveLength(6);
});

test.each([
  [
    'a mistake in its syntax',
    { 'main.mjs': 'const a = 1\nlet b = ;' },
    /Unexpected token/,
    'main.mjs:2:9',
  ],
  [
    'a name that a module does not have',
    { 'main.mjs': `\nimport { b } from './a.mjs'`, 'a.mjs': 'export const a = 1' },
    /does not provide an export named 'b'/,
    'main.mjs:2:10',
  ],
  [
    'another value for an import',
    {
      'main.mjs': `import { a } from './a.mjs'
const own = (a) => { a = 2 }
export const set = () => {
  [own.x, a] = [1, 2]
}`,
      'a.mjs': 'export const a = 1',
    },
    /a is an import, which cannot be assigned to/,
    'main.mjs:4:3',
  ],
  ['a module that is not there', { 'main.mjs': `import './gone.mjs'` }, /gone\.mjs/, ''],
  [
    'a native addon',
    {
      'main.mjs': `import { createRequire } from 'module'; createRequire(import.meta.url)('./a.node')`,
      'a.node': '',
    },
    /a\.node/,
    '',
  ],
])('%s is refused by its name and place', async (_, files, what, place) => {
  const error: unknown = await openIn(folderWith(files))
    .then(resultIn)
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Error);
  expect(String(error)).toMatch(what);
  expect(error instanceof Error ? error.stack : '').toContain(place);
});

test('the error of a module is thrown to each importer', async () => {
  const folder = folderWith({
    'main.mjs': `const tries = []
for (let at = 0; at < 2; at += 1) await import('./bad.mjs').catch((e) => tries.push(e))
export const result = [tries[0] === tries[1], tries[0].message]`,
    'bad.mjs': `throw new Error('no')`,
  });
  expect(await resultIn(await openIn(folder))).toEqual([true, 'no']);
});
