/**
 * Tests the rows of docs/library.md, each in its own runner with the package installed: a scenario
 * that holds passes, and one that does not fails with the same block in all runners.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installPackage } from '../install-package.mjs';
import { install, pack } from '../installed.fixture.ts';
import { exampleOf, pageOf } from './pages.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const around = mkdtempSync(join(tmpdir(), 'fencepost-runners-'));
/** Below the runners, which have their own packages. */
const folder = join(around, 'runners/project');
afterAll(() => rmSync(around, { recursive: true, force: true }));

const scenario = (store: string): string => `name: order
systems: { own: { lock: lock-service, store: ${store}, expect: { holds: [grant-order] } } }
faults: [{ pause: { before: write, for: 1ms..40ms, chance: 1/2 } }]
`;

const IMPORTS: Readonly<Record<string, string>> = {
  'node:test': `import { test } from 'node:test';\nimport { checkScenario } from 'fencepost';`,
  vitest: `import { simTest } from 'fencepost/vitest';`,
};
const IMPORT = `import { checkScenario, ScenarioCheckFailed } from 'fencepost';`;

/** The page's rows of runners. */
const rows = [...pageOf('docs/library.md').matchAll(/^\| (\S+) \| `(.+)` \| `(.+)` \|$/gm)].map(
  ([, name = '', code = '', command = '']) => ({ name: name.replaceAll('`', ''), code, command }),
);

beforeAll(() => {
  expect(installPackage(join(root, 'fixtures/runners'), join(around, 'runners'))).toBe(null);
  mkdirSync(folder);
  install(folder, ['vitest'], pack(folder));
  mkdirSync(join(folder, 'node_modules/.bin'));
  symlinkSync(join(root, 'node_modules/.bin/vitest'), join(folder, 'node_modules/.bin/vitest'));
  write('package.json', '{ "type": "module" }');
  write('lock.yaml', scenario('fenced'));
  write('red.yaml', scenario('unfenced'));
  write('wrong.yaml', scenario('fenced').replace('pause', 'pausee'));
  cpSync(join(root, 'fixtures/guide'), folder, { recursive: true });
  for (const { name, code } of rows) {
    const red = code.replace('holds', 'breaks').replace('lock.yaml', 'red.yaml');
    write(fileOf(name), [IMPORTS[name] ?? IMPORT, code, red].join('\n'));
  }
});

const fileOf = (name: string): string => `${name.replace(/\W/g, '-')}.test.js`;

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

/** Runs a shell command; returns its output and exit code. */
function shell(command: string): { readonly output: string; readonly code: number | null } {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, NO_COLOR: '1' };
  const { stdout, stderr, status } = spawnSync(command, {
    cwd: folder,
    env,
    shell: true,
    encoding: 'utf8',
  });
  return { output: stdout + stderr, code: status };
}

/** Returns a failure as it was thrown, without its runner's frame and indentation. */
function blockIn(output: string): readonly string[] {
  const [, first = '', rest = ''] = /(✗ Stale write .*)\n([\s\S]*?keep: .*)/.exec(output) ?? [];
  const indent = rest.search(/\S/) - 2;
  return [first, ...rest.split('\n').map((line) => line.slice(indent))].map((line) =>
    line.trimEnd(),
  );
}

let shown: readonly string[] = [];

test.each(rows)(
  '$name passes if the claim holds, and fails with the same block as all others',
  ({ name, command }) => {
    const file = fileOf(name);
    const { output, code } = shell(`${command} ${file}`);
    expect(code).toBe(1);
    const block = blockIn(output);
    const [seed = '', keep = ''] = block.slice(-2);
    if (shown.length === 0) shown = block;
    expect(shown.length).toBeGreaterThan(20);
    expect(block.slice(0, -2)).toEqual(shown.slice(0, -2));
    const alone = name === 'vitest' ? ' -t breaks' : '';
    expect(seed).toBe(`seed:   FENCEPOST_SEED=1 ${command} ${file}${alone}`);
    expect(keep).toBe(`keep:   FENCEPOST_UPDATE=1 ${command} ${file}${alone}`);
    if (name !== 'none') expect(output).toMatch(/1 passed|✓ holds|✔ holds|^ok 1 - holds/m);
    // The suggested command works.
    const again = shell(seed.replace(/^seed: +/, ''));
    expect(again.output).toContain('seed 1 of own');
    expect(again.output).toContain('✗ grant-order broke, exercised once');
  },
);

test('the examples in the comments of checkScenario and simTest pass', () => {
  const files: readonly (readonly [string, string])[] = [
    ['commented.mjs', exampleOf('checkScenario', 'adapters/scenario-check/check-scenario.ts')],
    [
      'commented.test.js',
      `${IMPORTS['vitest']}\n${exampleOf('simTest', 'adapters/vitest/sim-test.ts')}`,
    ],
  ];
  for (const [name, text] of files) write(name, text);
  const [plain, vitest] = [
    shell('node --test commented.mjs'),
    shell('npx vitest run commented.test.js'),
  ];
  expect(plain.output).toContain('# pass 2');
  expect(plain.code).toBe(0);
  expect(vitest.output).toContain('1 passed');
  expect(vitest.code).toBe(0);
});

test('the printed command replays a plan that is kept for a scenario file', () => {
  const first = shell(`FENCEPOST_UPDATE=1 node ${fileOf('none')}`).output;
  const [command = ''] = /FENCEPOST_REPLAY=\S+ node[\s\\]+none\S+/.exec(first) ?? [];
  expect(shell(command).output).toContain('reproduced: ✗ grant-order broke');
  expect(shell(`node ${fileOf('none')}`).output).toContain('grant-order of own, a kept plan');
});

test('in Jest errors have their classes, and code in modules is simulated', () => {
  write(
    'more.test.js',
    `${IMPORT}
const why = (check) => check.then(() => 'passed', (error) => error);
test('a class', async () => {
  const failed = await why(checkScenario('red.yaml'));
  expect([failed instanceof ScenarioCheckFailed, failed instanceof Error]).toEqual([true, true]);
  const wrong = await why(checkScenario('wrong.yaml'));
  expect(wrong).not.toBeInstanceOf(ScenarioCheckFailed);
  expect(wrong.message).toMatch(/^wrong.yaml:3:12 faults\\[0\\].pausee: unknown fault "pausee"/);
});
test('a module', async () => {
  const { systems } = await checkScenario('my-lock.yaml', { seeds: 10, system: 'alone' });
  expect(systems).toMatchObject([{ name: 'alone', expectations: [{ broken: expect.any(Number) }, {}] }]);
}, 60_000);
test('a body', async () => {
  const body = async (section) => section.guard().work();
  const { message } = await why(checkScenario({ name: 'x', faults: [], seeds: 5 }, body));
  expect(message).toContain('in Jest name the module of');
});
`,
  );
  const jest = rows.find(({ name }) => name === 'Jest')?.command;
  expect(shell(`${jest} more.test.js`).output).toMatch(/^Tests: +3 passed, 3 total$/m);
});
