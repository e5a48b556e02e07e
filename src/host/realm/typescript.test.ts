/** TypeScript with more than types runs, and every reported place is in the user's own file. */
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { framesIn, userPlaceIn } from '../async/call-site.ts';
import { moduleVersion } from '../modules/module-digest.ts';
import { ModuleGraph } from './module-graph.ts';
import { Realm } from './realm.ts';

/** Writes files, loads the first, and returns its exports. */
async function load(files: Readonly<Record<string, string>>): Promise<Record<string, unknown>> {
  const [main = ''] = Object.keys(files);
  const file = join(write(files), main);
  return { ...(await new Realm(await ModuleGraph.open(pathToFileURL(file).href)).load()) };
}

function write(files: Readonly<Record<string, string>>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'fencepost-typescript-')));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

async function errorOf(run: () => unknown): Promise<Error> {
  try {
    await run();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('it throws nothing');
}

test.each([
  [
    'an enum',
    'enum A { B = 1, C = B << 1, D = "d" } export const made = [A.C, A[1], A.D];',
    [2, 'B', 'd'],
  ],
  ['a const enum', 'const enum A { B, C } export const made = A.C;', 1],
  ['an exported const enum', "import { A } from './other'; export const made = A.C;", 1],
  [
    'a namespace',
    'namespace N { export const a = 1; export const b = a + 1; } export const made = N.b;',
    2,
  ],
  [
    'parameter properties',
    'class A { constructor(private a: number, readonly b = a + 1) {} } export const made = { ...new A(1) };',
    { a: 1, b: 2 },
  ],
  [
    'parameter properties below a class',
    'class A { b = 1; } class C extends A { constructor(public a: number) { super(); } } export const made = { ...new C(3) };',
    { a: 3, b: 1 },
  ],
  [
    'import x = require()',
    "import path = require('node:path'); export const made = path.posix.join('a', 'b');",
    'a/b',
  ],
  ['export =', "import Made = require('./equals'); export const made = Made.of(1);", 2],
  ['export = by its default', "import Made from './equals'; export const made = Made.of(1);", 2],
  [
    'export = beside an import',
    "import Made = require('./mixed'); export const made = new Made().made;",
    1,
  ],
  ['a type before an expression', 'export const made = <number>(<unknown>1);', 1],
  [
    'a type that is exported again',
    "import { Lease } from './other'; export { Lease }; enum A { B } export const made = A.B;",
    0,
  ],
  [
    'an import of a type alone',
    "import { Lease, A } from './other'; enum B { C } export const made: Lease = A.B + B.C;",
    0,
  ],
])('%s behaves as in TypeScript', async (_, text, made) => {
  const loaded = await load({
    'main.ts': text,
    'other.ts': 'export type Lease = number; export const enum A { B, C }',
    'equals.ts':
      'enum A { B = 1 }\nclass Made { static of(n: number): number { return n + A.B; } }\nexport = Made;',
    'mixed.ts': "import { A } from './other';\nclass Made { made = A.C; }\nexport = Made;",
  });
  expect(loaded['made']).toEqual(made);
});

/** Programs that throw at the mark, which is removed first. */
const THROWING = [
  "enum A { B } export const run = () => { if (A.B === 0) throw ▲new Error('x'); };",
  'namespace N { export function run() { const a: any = undefined; return a.▲b.c; } }\nexport const { run } = N;',
  "class A { constructor(private readonly a: string) { throw ▲new Error(a); } }\nexport const run = () => { new A('x'); };",
  'enum A { B }\nclass C {\n  constructor(\n    private a: number,\n    protected b?: string,\n  ) {\n    this.c(<any>b)▲.d();\n  }\n  c(x: string): any { return x; }\n}\nexport const run = () => new C(A.B);',
  'const enum A { B } export async function run(a: any) { await null; const b: number = A.B; await a.▲b(b); }',
  'enum A { B }\nexport const run = (): void => { JSON.▲parse("{" + A.B); };',
  "import os = require('node:os');\nexport function run(a?: { b: any }): string { return os.EOL + a!.▲b; }",
  'enum A { B }\n\n\n/* é */ export const run = async () => { const all = [1, 2].map((n: number) => { throw ▲new Error(String(n)); }); };',
];

test.each(THROWING)('an error names its own line and column: %s', async (marked) => {
  const before = marked.slice(0, marked.indexOf('▲')).split('\n');
  const place = `${before.length}:${(before.at(-1) ?? '').length + 1}`;
  for (const name of ['main.ts', 'main.cts']) {
    const { run } = await load({ [name]: marked.replace('▲', '') });
    const error = await errorOf(() => (typeof run === 'function' ? run() : null));
    const [first] = framesIn(error.stack ?? '').filter(({ file }) => file.endsWith(name));
    expect(first?.place).toBe(place);
    expect(userPlaceIn(error)).toBe(`${name}:${place}`);
  }
});

test.each([
  ['enum A { B }\nconst a: = 3;', /main\.ts:2:10: Unexpected token `=`/],
  ['enum A { B,, }', /main\.ts:1:12: Expected ident/],
  ['enum A { B }\nclass C { @dec() a = 1; }', /main\.ts:2:11: a decorator needs your own compiler/],
  [
    'enum A { B }\n@dec() export class C {}',
    /main\.ts:2:1: .*; add typescript 5, @swc\/core or esbuild/,
  ],
  [
    '// a@b.c @dec\nconst a = "@dec";\nclass C { accessor a = 1; }',
    /main\.ts:3:11: accessor needs your own compiler/,
  ],
])('untranslatable code is refused with its place: %s', async (text, what) => {
  const { message } = await errorOf(() => load({ 'main.ts': text }));
  expect(message).toMatch(what);
});

test('JSX is refused with its place, and other code of such a file runs', async () => {
  const jsx = { 'main.tsx': 'const a: number = 1;\nexport const made = <b>{a}</b>;' };
  const { message } = await errorOf(() => load(jsx));
  expect(message).toMatch(/main\.tsx:2:\d+: .*; JSX is not translated/);
  const { made } = await load({ 'main.tsx': 'enum A { B } export const made: A = A.B;' });
  expect(made).toBe(0);
});

test('a missing name is reported at its place', async () => {
  const text =
    "enum A { B }\nimport { a, none } from './other.mjs';\nexport const b = [a, none, A];";
  const error = await errorOf(() => load({ 'main.ts': text, 'other.mjs': 'export const a = 1;' }));
  expect(userPlaceIn(error)).toBe('main.ts:2:13');
});

const MAP = '{"version":3,"sources":["a"],"names":[],"mappings":"AACA"}';
const DECORATED = "import { Lease } from './lease';\n@dec(Lease)\nclass A {}\n";

/** Packages that stand in for compilers: their output is their own options. */
const COMPILERS = {
  typescript: `exports.transpileModule = (source, { compilerOptions }) => ({
    outputText: 'import { Lease } from "./lease"; export const made = ' + JSON.stringify(compilerOptions) +
      '; export const run = () => { throw new Error(String(Lease)) };\\n//# sourceMappingURL=a.js.map',
    sourceMapText: '${MAP}',
  });`,
  '@swc/core': `exports.transformSync = (source, { jsc }) => ({
    code: 'export const made = ' + JSON.stringify(jsc), map: '${MAP}' });`,
  esbuild: `exports.transformSync = (source, { tsconfigRaw }) => ({
    code: 'export const made = ' + JSON.stringify(tsconfigRaw), map: '${MAP}' });`,
};

const LEGACY = { experimentalDecorators: true, emitDecoratorMetadata: true };

function project(
  name: keyof typeof COMPILERS,
  { options = {}, version = '5.0.0' }: { options?: object; version?: string } = {},
): Record<string, string> {
  return {
    'main.ts': DECORATED,
    'lease.ts': 'export interface Lease { a: 1 }',
    'tsconfig.json': JSON.stringify({ compilerOptions: options }),
    [`node_modules/${name}/package.json`]: JSON.stringify({ name, version }),
    [`node_modules/${name}/index.js`]: COMPILERS[name],
  };
}

test('decorators are compiled by the compiler of the project, with its settings', async () => {
  const { made, run } = await load(project('typescript', { options: LEGACY }));
  expect(made).toMatchObject({ ...LEGACY, useDefineForClassFields: true, target: 'es2022' });
  // The interface is imported for its metadata, and is not a value.
  const error = await errorOf(() => (typeof run === 'function' ? run() : null));
  expect(error.message).toBe('undefined');
  expect(userPlaceIn(error)).toMatch(/^main\.ts:2:/);
  const { made: bySwc } = await load(project('@swc/core', { options: LEGACY }));
  expect(bySwc).toMatchObject({ transform: { legacyDecorator: true, decoratorMetadata: true } });
  const target = { target: 'ES2021' };
  const { made: byEsbuild } = await load(project('esbuild', { options: target }));
  expect(byEsbuild).toMatchObject({ compilerOptions: { useDefineForClassFields: false } });
});

test('a compiler that does not support the settings is skipped', async () => {
  const { message } = await errorOf(() => load(project('esbuild', { options: LEGACY })));
  expect(message).toMatch(/main\.ts:2:1: .*; for emitDecoratorMetadata add typescript 5 or @swc/);
  const seventh = { ...project('typescript'), 'node_modules/typescript/index.js': '' };
  expect((await errorOf(() => load(seventh))).message).toMatch(
    /main\.ts:2:1: a decorator needs .*, but typescript@5\.0\.0 has no suitable API; add typescript 5/,
  );
});

test('the version of a module covers its compiler and the settings that matter', () => {
  const versionOf = (files: Record<string, string>): string =>
    moduleVersion(join(write(files), 'main.ts'));
  const plain = versionOf(project('typescript'));
  expect(plain).toMatch(/ typescript@5\.0\.0$/);
  expect(versionOf(project('typescript', { options: { strict: true } }))).toBe(plain);
  expect(versionOf(project('typescript', { options: LEGACY }))).not.toBe(plain);
  expect(versionOf(project('typescript', { version: '5.1.0' }))).toMatch(/ typescript@5\.1\.0$/);
  const undecorated = { ...project('typescript'), 'main.ts': 'enum A { B }' };
  const legacy = { ...project('typescript', { options: LEGACY }), 'main.ts': 'enum A { B }' };
  expect(versionOf(legacy)).toBe(versionOf(undecorated));
});
