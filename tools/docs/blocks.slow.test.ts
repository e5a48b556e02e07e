/**
 * Checks that each fenced block of the README and the docs is run by the test that a table names.
 * This test runs its own blocks in a folder in which the packed package is installed.
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { install } from '../installed.fixture.ts';
import { exampleOf, pages } from './pages.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'fencepost-blocks-'));
const home = join(folder, 'node_modules/fencepost');

beforeAll(() => {
  install(folder, ['fast-check', '@types/node']);
  mkdirSync(join(folder, 'node_modules/.bin'));
  // As `init` writes them.
  cpSync(join(home, 'fixtures/starter/locks'), join(folder, 'locks'), { recursive: true });
  symlinkSync('../fencepost/dist/cli.js', join(folder, 'node_modules/.bin/fencepost'));
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The page, the language and the text of each block. */
const blocks = [...pages].flatMap(([page, text]) =>
  [...text.matchAll(/^```(.*\n[\s\S]*?)\n```$/gm)].map(([, block = '']) => `${page} ${block}`),
);

/** Blocks, and the test that runs each; null for this one. */
const RUN_BY: readonly (readonly [block: RegExp, by: string | null])[] = [
  [/^README\.md sh\n.*\n.* run six-steps/, null],
  [/^README\.md sh\nnpm ci/, '.ci/run'],
  [/^README\.md text/, 'tools/docs/readme.test.ts'],
  [/^README\.md sh\n.* init\n/, 'src/cli/init.slow.test.ts'],
  [
    /^(README|docs\/own-lock)\.md (ts\n[\s\S]*(ioredis|\/lock\.ts)|yaml\nname: lock\n|sh\n.* run lock\.yaml)/,
    'tools/docs/driver.slow.test.ts',
  ],
  [/^docs\/own-lock\.md sh\nnpm init/, 'tools/docs/driver.slow.test.ts'],
  [
    /^docs\/own-lock\.md (js\n[\s\S]*turns|yaml\n[\s\S]*turns|sh\n[\s\S]* run turns)/,
    'tools/docs/in-memory.slow.test.ts',
  ],
  [
    /^docs\/own-lock\.md (js\n(?![\s\S]*turns)|yaml\n[\s\S]*my-lock\.fencepost|sh\n.* run my-lock)/,
    'tools/docs/guide.slow.test.ts',
  ],
  [/^docs\/check\.md ts/, null],
  [/^docs\/architecture\.md diff \S/, 'tools/docs/contributing.slow.test.ts'],
  [/^docs\/corpus\.md text/, 'src/cli/corpus.slow.test.ts'],
  [/^docs\/corpus\.md sh/, null],
  [/^docs\/documents\.md/, 'tools/docs/documents.slow.test.ts'],
  [/^docs\/exhaustive\.md/, 'src/cli/exhaust.slow.test.ts'],
  [/^docs\/fleet\.md sh/, 'tools/docs/help-examples.slow.test.ts'],
  [/^docs\/library\.md ts(?![\s\S]*(CacheLock|simTest))/, null],
  [/^docs\/library\.md ts[\s\S]*CacheLock/, 'tools/docs/readme-cache-lock.slow.test.ts'],
  [/^reports\/packages\.md sh/, 'tools/docs/packages.slow.test.ts'],
  [/^docs\/scenarios\.md yaml/, 'tools/docs/readme.test.ts'],
  [/^docs\/library\.md ts[\s\S]*simTest/, 'src/adapters/vitest/vitest.slow.test.ts'],
  // A diagram.
  [/^docs\/architecture\.md \n/, 'docs/architecture.md'],
];

const rowsOf = (text: string) => RUN_BY.filter(([block]) => block.test(text));

test('exactly one test runs each block, and each row has a block', () => {
  expect(blocks.filter((block) => rowsOf(block).length !== 1)).toEqual([]);
  expect(RUN_BY.filter((row) => !blocks.some((block) => rowsOf(block).includes(row)))).toEqual([]);
  expect(RUN_BY.filter(([, by]) => !existsSync(join(root, by ?? '')))).toEqual([]);
});

/** Returns the blocks of a language that this test runs, in reading order. */
function blocksHere(language: string): readonly string[] {
  const generated = blocks.filter((block) => rowsOf(block).some(([, by]) => by === null));
  return generated.flatMap((block) => {
    const [, text] = new RegExp(`^\\S+ ${language}\\n([\\s\\S]*)$`).exec(block) ?? [];
    return text ?? [];
  });
}

/** Runs what `npx --no-install` runs, without installing again, and on few seeds. */
function typed(block: string): string {
  return block
    .replaceAll(/^npm install .*$/gm, '')
    .replaceAll('npx --no-install fencepost', 'node_modules/.bin/fencepost')
    .replaceAll(/(?<=fencepost run [\w./ -]*\w)(?= *(?:#|$))/gm, ' --seeds 40 --workers 0')
    .replaceAll('999999', '9');
}

test.each(blocksHere('sh'))('a shell runs %s', { timeout: 120_000 }, (block) => {
  const options = { cwd: folder, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync('sh', ['-ec', typed(block)], options);
  expect({ status, said: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, said: '' });
});

/** Checks the types of an example, builds it, and returns its output. */
function outputOf(example: string): string {
  ran.add(example);
  writeFileSync(join(folder, 'example.mts'), example);
  const options = ['--ignoreConfig', '--module', 'nodenext', '--target', 'es2022', '--strict'];
  const types = ['--types', 'node', '--lib', 'es2023', '--skipLibCheck'];
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const built = spawnSync('node', [tsc, ...options, ...types, join(folder, 'example.mts')], {
    encoding: 'utf8',
  });
  expect(built.stdout).toBe('');
  const file = join(folder, 'example.mjs');
  return spawnSync('node', [file], { cwd: folder, encoding: 'utf8' }).stdout;
}

const examples = blocksHere('ts');
const ran: Set<string> = new Set();

/** Returns the only example that contains `words`. */
function exampleWith(words: string): string {
  const found = examples.filter((text) => text.includes(words));
  expect(found, words).toHaveLength(1);
  return found[0] ?? '';
}

test('the examples run and print what their comments state', () => {
  expect(outputOf(exampleWith('await shrink('))).toContain('pause: { process:');
  for (const words of ['new LockService()', 'new OptimisticTable(']) {
    const classes = exampleWith(words);
    expect(outputOf(classes).match(/granted|denied|accepted|refused/g)).toEqual(
      [...classes.matchAll(/\)\); \/\/ (\w+)/g)].map(([, word]) => word),
    );
  }
  expect(outputOf(exampleWith('planArbitrary('))).toBe('patient\n');
  expect(outputOf(exampleWith('checkHistory('))).toContain('bob');
});

test('the leases answer as their comments state', () => {
  const leases = exampleWith('new LeaseTable()');
  const said = [...leases.matchAll(/\/\/ (.*)/g)].map(([, words]) => words);
  const answers = outputOf(leases).replace(/\{ kind: '(\w+)', (\w+): (\d+),.*/g, '$1, $2 $3');
  expect(answers.trim().split('\n')).toEqual(said);
  expect(said).toHaveLength(6);
});

test('a plan is explained as the comments state', () => {
  const example = exampleWith('await explain(');
  const said = [...example.matchAll(/\/\/ (.*)/g)].map(([, words]) => words);
  expect(outputOf(example).trim().split('\n')).toEqual(said);
  expect(said).toHaveLength(5);
});

const PLAN = `const plan = await loadPlan('node_modules/fencepost/fixtures/plans/zombie-writer-unfenced-grant-order.yaml');\n`;

test.each([
  ['defineSystem', 'define-system.ts', ''],
  ['loadScenario', 'library.ts', 'unfenced'],
  ['run', 'library.ts', 'complete'],
  ['judge', 'library.ts', 'stale-write'],
  ['shrink', 'library.ts', 'fencepost: 1'],
  ['replay', 'library.ts', 'reproduced'],
  ['explain', 'library.ts', 'Stale write accepted by `unfenced`'],
  ['checkHistory', 'linearizability/check-history.ts', 'invalid'],
  ['readHistory', 'linearizability/formats/formats.ts', 'register 2'],
])(
  'the example in the comment of %s compiles and prints the expected text',
  (name, path, prints) => {
    const example = exampleOf(name, path);
    const code =
      /\bplan\b/.test(example) && !example.includes('const plan') ? PLAN + example : example;
    const used = (names: string): string =>
      names
        .split(' ')
        .filter((one) => new RegExp(`\\b${one}\\b`).test(code))
        .map((one) => (/^[A-Z]/.test(one) ? `type ${one}` : one))
        .join(', ');
    const root = used('defineSystem expand explain judge loadPlan loadScenario replay run shrink');
    const check = used('checkHistory models readHistory History RegisterCall');
    const imports = `import { ${root} } from 'fencepost';\nimport { ${check} } from 'fencepost/check';\n`;
    expect(outputOf(`${imports}${code}`)).toContain(prints);
  },
);

test('every example was run', () => {
  expect(examples.filter((example) => !ran.has(example))).toEqual([]);
});
