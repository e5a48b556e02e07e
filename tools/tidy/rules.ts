/** Lists each style rule with snippets that it must refuse and snippets that it must accept. */
import { isSelfContained } from './ambient.ts';
import { copiesByLiterals } from './hot-paths.ts';
import { importsNoTest, importsPureCode, keepsLayers, packsNoFolder } from './layers.ts';
import { groupsNoFields, inlinesShortHelpers, namedHelpers } from './over-split.ts';
import { phrasesSample, wordsNoEvent } from './phrases.ts';
import { exportsByName, exportsWithTypes, trustsTheChecker } from './safety.ts';
import {
  beginsWithComment,
  hasLawsAsTitles,
  hasShortFunctions,
  hasShortLines,
  isNamedByIdea,
  isShortFile,
} from './shape.ts';
import type { Rule, Sample } from './source.ts';
import { usesStandardWords, wordSample } from './words.ts';

const LONG = 'x'.repeat(90);

/** Maps the title of a law to the rule that enforces it and the rule's snippets. */
export const rules: ReadonlyMap<string, readonly [Rule, Sample]> = new Map<
  string,
  readonly [Rule, Sample]
>([
  [
    'a layer imports only from layers to its left',
    [
      keepsLayers,
      {
        refuses: [
          ['src/core/kernel/a.ts', `import '../plan/plan.ts';`, 'core/kernel imports core/plan'],
          ['src/text/a.ts', `import '../core/kernel/json.ts';`, 'text imports core/kernel'],
          [
            'src/core/plan/a.ts',
            `import type { T } from '../history/trace.ts';`,
            'core/plan imports core/history',
          ],
          ['src/check/a.ts', `export * from '../core/world/world.ts';`, 'check imports core/world'],
          [
            'src/check/a.ts',
            `const a = import('../systems/assemble.ts');`,
            'check imports systems',
          ],
          [
            'src/linearizability/a.ts',
            `import '../core/plan/plan.ts';`,
            'linearizability imports core/plan',
          ],
          [
            'src/core/shrink/a.ts',
            `type T = import('../../check/verdict.ts').T;`,
            'core/shrink imports check',
          ],
          [
            'src/core/shrink/models/a.ts',
            `import '../../world/world.ts';`,
            'core/shrink imports core/world',
          ],
          ['src/check/a.ts', `import '../run.ts';`, 'check imports run.ts'],
          ['src/scenario/a.ts', `import '../harness.ts';`, 'scenario imports harness.ts'],
          ['src/scenario/a.ts', `import '../systems/job.ts';`, 'scenario imports systems'],
          ['src/run.ts', `import './check/claims.ts';`, 'run.ts imports check'],
          ['src/zoo/a/b.ts', `import '../../core/world/world.ts';`, 'zoo imports core/world'],
          ['src/systems/a.ts', `import '../zoo/a/b.ts';`, 'systems imports zoo'],
          ['src/harness.ts', `import './search/sweep/sweep.ts';`, 'harness.ts imports search'],
          ['src/search/sweep/a.ts', `import '../../report/page.ts';`, 'search imports report'],
          ['src/report/a.ts', `import '../cli/run.ts';`, 'report imports cli'],
          ['src/novel/a.ts', ``, 'novel has no place'],
        ],
        passes: [
          ['src/core/plan/a.ts', `import '../kernel/json.ts'; import './plan.ts'; import 'yaml';`],
          ['src/search/sweep/a.ts', `import '../../run.ts'; import '../../harness.ts';`],
          ['src/harness.ts', `import './run.ts'; import './core/shrink/shrink.ts';`],
          ['src/zoo/a/b.ts', `import '../../servers.ts'; import '../c/d.ts';`],
          ['src/core/kernel/a.test.ts', `import '../plan/plan.ts';`],
          [
            'src/core/kernel/a.ts',
            `// import '../plan/plan.ts';\nexport const a = "import '../plan'";`,
          ],
        ],
      },
    ],
  ],
  [
    'nothing imports a test',
    [
      importsNoTest,
      {
        refuses: [
          ['src/check/a.test.ts', `import { b } from './b.test.ts';`, './b.test.ts is a test'],
          ['properties/a.ts', `export * from './b.slow.test.ts';`, './b.slow.test.ts is a test'],
        ],
        passes: [['src/check/a.test.ts', `import './b.fixture.ts'; import './test.ts';`]],
      },
    ],
  ],
  [
    'a test creates no folder that is packed into the package',
    [
      packsNoFolder,
      {
        refuses: [
          [
            'src/cli/a.test.ts',
            `const a = mkdtempSync(join(root, 'dist/a-'));`,
            'a folder in dist',
          ],
        ],
        passes: [['src/cli/a.test.ts', `const a = mkdtempSync(join(root, 'reports/a-'));`]],
      },
    ],
  ],
  [
    'the core imports no Node module and has no computed import',
    [
      importsPureCode,
      {
        refuses: [
          ['src/core/kernel/a.ts', `import { readFileSync } from 'node:fs';`, 'imports node:fs'],
          ['src/core/shrink/a.ts', `import fs from 'fs';`, 'imports fs'],
          ['src/run.ts', `export { hash } from 'node:crypto';`, 'imports node:crypto'],
          ['src/harness.ts', `const a = await import('node:os');`, 'imports node:os'],
          ['src/core/world/a.ts', `import a = require('node:os');`, 'imports node:os'],
          ['src/core/plan/a.ts', `import 'commander';`, 'imports commander'],
          ['src/core/plan/a.ts', `const name = 'x'; void import(name);`, 'computed import'],
        ],
        passes: [
          ['src/cli/a.ts', `import { readFileSync } from 'node:fs';`],
          ['src/core/kernel/a.ts', `import alea from 'seedrandom/lib/alea.js';`],
          ['src/run.ts', `import { sha256 } from '@noble/hashes/sha2.js';`],
        ],
      },
    ],
  ],
  [
    'the core has no ambient time, chance, timer, locale or environment',
    [
      isSelfContained,
      {
        refuses: [
          ...[
            'Date',
            'performance',
            'setTimeout',
            'setInterval',
            'setImmediate',
            'process',
            'crypto',
            'Intl',
            'queueMicrotask',
            'fetch',
            'console',
            'globalThis',
            'WeakRef',
          ].map(
            (name) => ['src/core/kernel/a.ts', `export const a = ${name};`, `${name}: `] as const,
          ),
          ...['random', 'log', 'exp', 'pow', 'sin', 'cos', 'tan', 'log2', 'hypot'].map(
            (name) =>
              ['src/core/plan/a.ts', `export const a = Math.${name};`, `Math.${name}: `] as const,
          ),
          ['src/core/plan/a.ts', `export const { random } = Math;`, 'Math: name the function'],
          ['src/core/plan/a.ts', `export const a = Math['random']();`, 'Math: name the function'],
          ['src/check/a.ts', `export const a = 'a'.localeCompare('b');`, 'localeCompare: '],
          ['src/check/a.ts', `export const a = 'a'['localeCompare']('b');`, 'localeCompare: '],
          ['src/check/a.ts', `export const a = (1).toLocaleString();`, 'toLocaleString: '],
          ['src/check/a.ts', `export const a = 'a'.toLocaleUpperCase();`, 'toLocaleUpperCase: '],
          ['src/check/a.ts', `export const a = import.meta.url;`, 'import.meta: '],
          ['src/check/a.ts', `export const a = 2 ** 0.5;`, '**: '],
          ['src/harness.ts', `export const a = Date.now();`, 'Date: '],
          ['src/run.ts', `export const a = process.env['HOME'];`, 'process: '],
        ],
        passes: [
          ['src/core/kernel/a.ts', `const process = { env: 1 }; export const a = process.env;`],
          ['src/core/kernel/a.ts', `export const a = (crypto: { Date: number }) => crypto.Date;`],
          ['src/core/kernel/a.ts', `// Date.now()\nexport const a = 'Date.now() Math.random()';`],
          [
            'src/core/kernel/a.ts',
            `export const a = Math.imul(1, Math.floor(2.5)) + Number(10n ** 2n);`,
          ],
          ['src/search/sweep/a.ts', `export const a = performance.now() + Math.random();`],
        ],
      },
    ],
  ],
  [
    'code that runs per event copies no object by a spread',
    [
      copiesByLiterals,
      {
        refuses: [
          [
            'src/core/world/a.ts',
            `export function a(b: object) { return { ...b, c: 1 }; }`,
            'an object spread where each event passes: write each field',
          ],
          ['src/systems/a.ts', `export const a = () => ({ ...{ b: 1 } });`, 'an object spread'],
          [
            'src/systems/lock-service/a.ts',
            `export class A { a({ b, ...c }: { b: 1; c: 2 }) { return c; } }`,
            'an object rest',
          ],
          [
            'src/systems/assemble.ts',
            `export function other(b: object) { return { ...b }; }`,
            'an object spread',
          ],
        ],
        passes: [
          ['src/systems/a.ts', `const a = { b: 1 }; export const c = { ...a, d: 2 };`],
          ['src/systems/a.ts', `export const a = (b: number[]) => [...b, Math.max(...b)];`],
          ['src/systems/a.ts', `export const a = ([b, ...c]: number[]) => ({ b, c });`],
          ['src/systems/a.test.ts', `export const a = (b: object) => ({ ...b });`],
          ['src/systems/assemble.ts', `export function assemble(b: object) { return { ...b }; }`],
          ['src/core/shrink/a.ts', `export const a = (b: object) => ({ ...b, c: 1 });`],
        ],
      },
    ],
  ],
  [
    'a file has at most 500 lines',
    [
      isShortFile,
      {
        refuses: [['src/core/plan/a.ts', '// a\n'.repeat(501), '501 lines']],
        passes: [['src/core/plan/a.ts', '// a\n'.repeat(500)]],
      },
    ],
  ],
  [
    'a function has at most 70 lines',
    [
      hasShortFunctions,
      {
        refuses: [
          ['src/core/plan/a.ts', `export function a() {${'\n'.repeat(70)}}`, '71 lines'],
          ['src/core/plan/a.ts', `export const a = () => ({${'\n'.repeat(70)}});`, '71 lines'],
          [
            'src/core/plan/a.ts',
            `export class A { get a() {${'\n'.repeat(70)} return 1; } }`,
            '71 lines',
          ],
          ['src/a.test.ts', `test('a', () => {${'\n'.repeat(70)}});`, '71 lines'],
        ],
        passes: [
          [
            'src/core/plan/a.ts',
            `/**${'\n'.repeat(70)}*/\nexport function a() {${'\n'.repeat(69)}}`,
          ],
          ['src/a.test.ts', `describe('a', () => {${'\n'.repeat(90)}});`],
        ],
      },
    ],
  ],
  [
    'a line has at most 100 columns, not counting strings',
    [
      hasShortLines,
      {
        refuses: [
          ['src/core/plan/a.ts', `export const ${LONG} = 1;`, '108 columns'],
          ['src/core/plan/a.ts', `// ${LONG} ${LONG}`, '184 columns'],
          ['src/core/plan/a.ts', `export const ${LONG}${LONG} = 'a';`, '200 columns'],
        ],
        passes: [
          ['src/core/plan/a.ts', `export const a = '${LONG}${LONG}';`],
          ['src/core/plan/a.ts', `export const a = \`\n${LONG}${LONG}\`;`],
        ],
      },
    ],
  ],
  [
    'a file begins with a comment',
    [
      beginsWithComment,
      {
        refuses: [
          ['src/core/plan/a.ts', `import './plan.ts';\n/** Late. */`, 'no comment above'],
          ['src/core/plan/a.ts', ``, 'no comment above'],
          ['src/core/plan/a.ts', `//\nexport const a = 1;`, 'no comment above'],
        ],
        passes: [
          ['src/core/plan/a.ts', `/** Decides. */\n`],
          ['src/core/plan/a.ts', `/**\n * Decides.\n */\n`],
          ['src/cli.ts', `#!/usr/bin/env node\n// Turns argv into an exit code.\n`],
          ['src/core/plan/a.test.ts', `import './plan.ts';`],
        ],
      },
    ],
  ],
  [
    'a file is named after what it decides',
    [
      isNamedByIdea,
      {
        refuses: [
          ...['utils', 'helpers', 'types', 'common', 'plan-utils', 'helper'].map(
            (name) => [`src/core/plan/${name}.ts`, '', 'name it by the noun'] as const,
          ),
          ['src/core/plan/utils/a.ts', '', 'name it by the noun'],
          ['src/core/plan/types.test.ts', '', 'name it by the noun'],
          ['src/core/plan/index.ts', '', 'import the file'],
        ],
        passes: [
          ['src/index.ts', ''],
          ['src/core/plan/fault-text.ts', ''],
        ],
      },
    ],
  ],
  [
    'only the tables of phrases choose words for events, faults and rules',
    [wordsNoEvent, phrasesSample],
  ],
  ['a name uses the standard word', [usesStandardWords, wordSample]],
  [
    'a test title states a law in the present tense',
    [
      hasLawsAsTitles,
      {
        refuses: [
          ['src/a.test.ts', `test('should work', () => {});`, 'as a law'],
          ['src/a.test.ts', `it.each([1])('Should work %i', () => {});`, 'as a law'],
          ['src/a.test.ts', 'describe.skip(`should`, () => {});', 'as a law'],
        ],
        passes: [
          ['src/a.test.ts', `test('a shoulder is a part of the body', () => {});`],
          ['src/a.test.ts', `expect('should').toBe('should');`],
        ],
      },
    ],
  ],
  [
    'no `any`, `!` or cast bypasses the type checker',
    [
      trustsTheChecker,
      {
        refuses: [
          ['src/core/plan/a.ts', `export const a: any = 1;`, 'any: '],
          ['src/core/plan/a.ts', `export const a = (b: Array<any>) => b;`, 'any: '],
          ['src/core/plan/a.ts', `export const a = (b: string[]) => b[0]!;`, '!: '],
          ['src/core/plan/a.ts', `export let a!: string;`, '!: '],
          ['src/core/plan/a.ts', `export class A { b!: string; }`, '!: '],
          ['src/core/plan/a.ts', `export const a = 1 as unknown;`, 'as: '],
          ['src/core/plan/a.ts', `export const a = <unknown>1;`, 'a cast: '],
          ['src/a.test.ts', `export const a = {} as never;`, 'as: '],
        ],
        passes: [
          ['src/core/plan/a.ts', `export const a = ['any'] as const; // as any`],
          ['src/core/plan/a.ts', `import { a as b } from './plan.ts'; export const c = !b;`],
          ['src/core/plan/a.ts', `export const a = { b: 1 } satisfies object;`],
        ],
      },
    ],
  ],
  [
    'fields are not grouped by spreads',
    [
      groupsNoFields,
      {
        refuses: [
          ['src/a.ts', `export const a = { ...{ b: 1, c: 2 }, d: 3 };`, 'a spread of a literal'],
          ['src/a.ts', `export const a = [...['b', 'c'], 'd'];`, 'write its parts without'],
          ['tools/a.ts', `export const a = Math.max(...[1, 2]);`, 'a spread of a literal'],
          ['properties/a.ts', `export const a = { ...({ b: 1 } as const) };`, 'a spread of a'],
        ],
        passes: [
          ['src/a.ts', `export const a = (b: boolean) => ({ ...(b ? { c: 1 } : {}), d: 2 });`],
          ['src/a.ts', `export const a = (b: object) => [...Object.keys({ ...b }), '...{ c }'];`],
          ['src/a.ts', `export const a = [...['b'].map((c) => c)];`],
        ],
      },
    ],
  ],
  [
    'a short function with one caller is inlined',
    [
      inlinesShortHelpers(namedHelpers),
      {
        refuses: [
          [
            'src/a.ts',
            `const a = (b: number) => b + 1; export const c = { d: [2].filter((e) => a(e) > 2) };`,
            'a: 1 lines for one caller: inline it, or, if the name replaces a comment, list it',
          ],
          [
            'src/a.ts',
            `function a(b: number) {\n const c = b;\n return c;\n} export const d = 1 + a(2);`,
            'a: 4 lines',
          ],
          [
            'src/a.ts',
            `function a(b: 1) { if (b) return 1; return 2; } export function c() { f(a(1)); }`,
            'a: ',
          ],
          [
            'src/a.ts',
            `function a(b: 1) { if (b) { return 1; } return 2; } export const c = () => a(1);`,
            'a: ',
          ],
          [
            'src/a.ts',
            `async function a() { f(); } export async function b() { await a(); }`,
            'a: ',
          ],
        ],
        passes: [
          [`src/a.ts`, `export function a() { return 1; } export const b = a();`],
          [`src/a.ts`, `function a() { return 1; } export const b = a(); export { a };`],
          [`src/a.ts`, `function a() { return 1; } export const b = [a(), a()];`],
          [`src/a.ts`, `function a() {\n\n\n\n\n return 1;\n} export const b = a();`],
          [`src/a.ts`, `function a(b: 1) { return b; } export const c = [1].map(a);`],
          [`src/a.ts`, `function a(b: 1): 1 { return a(b); } export const c = 1;`],
          [`src/a.ts`, `function a(b: 1): b is 1 { return true; } export const c = a(1);`],
          [`src/a.ts`, `function* a() { yield 1; } export const b = [...a()];`],
          [`src/a.ts`, `async function a() { f(); } export const b = () => void a();`],
          [
            'src/a.ts',
            `const a = (b: 1) => (b ? 1 : 2); export const c = (d: 1) => (d ? a(d) : 3);`,
          ],
          [
            'src/a.ts',
            `function a(b: 1) { const c = b; return c; } export const d = (e: 1) => e && a(e);`,
          ],
          ['src/a.ts', `function a(b: 1) { for (;;) if (b) return 1; } export const c = 1 + a(1);`],
          ['src/a.test.ts', `function a() { return 1; } export const b = a();`],
        ],
      },
    ],
  ],
  [
    'exports have types, except schemas',
    [
      exportsWithTypes,
      {
        refuses: [
          ['src/core/plan/a.ts', `export const a = f();`, 'src/core/plan/a.ts:1: TS9010'],
          ['src/core/plan/a.ts', `\nexport function a() { return f(); }`, 'a.ts:2: TS9007'],
          ['src/report/a.ts', `export const a = z.string();`, 'TS9010'],
        ],
        passes: [
          ['src/core/plan/a.ts', `export const a: string = f(); const b = f();`],
          ['src/core/plan/a.ts', `export function a(): string { return f(); }`],
          ['src/core/plan/a.test.ts', `export const a = f();`],
          ['src/search/campaign/result.ts', `export const a = z.string();`],
        ],
      },
    ],
  ],
  [
    'exports have names',
    [
      exportsByName,
      {
        refuses: [
          ['src/core/plan/a.ts', `export default 1;`, 'by its name'],
          ['src/core/plan/a.ts', `export default function a() {}`, 'by its name'],
          ['src/core/plan/a.ts', `export default class {}`, 'by its name'],
          ['src/core/plan/a.ts', `const a = 1; export { a as default };`, 'by its name'],
        ],
        passes: [
          [
            'src/core/plan/a.ts',
            `export const a = (b: 1) => { switch (b) { default: return 1; } };`,
          ],
          ['src/core/plan/a.d.ts', `declare module 'a' { export default function a(): void; }`],
        ],
      },
    ],
  ],
]);
