/** What the README shows is what is printed, and its commands and links exist. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { loadScenario } from '../src/load.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');

test('the failure in the README is the one that the main job prints', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fencepost-'));
  const args = ['dist/cli.js', 'run', 'fixtures/zombie-writer.yaml', '--output', folder];
  const env = { ...process.env, NO_COLOR: '1' };
  const { stdout } = spawnSync('node', args, { cwd: root, encoding: 'utf8', env });
  rmSync(folder, { recursive: true });
  const [shown = ''] = /(?<=failure:begin -->\n```text\n)[\s\S]*?(?=\n```)/.exec(readme) ?? [];
  const story = shown.slice(0, shown.indexOf('replay:'));
  expect(story.length, 'run `npm run sample`').toBeGreaterThan(500);
  expect(stdout).toContain(story);
});

test('the scenario in the README loads', () => {
  const [text = ''] = /(?<=```yaml\n)[\s\S]*?(?=\n```)/.exec(readme) ?? [];
  expect(loadScenario(text, 'README.md')).toMatchObject({ kind: 'scenario', warnings: [] });
});

test('every file that the README links to exists', () => {
  const links = [...readme.matchAll(/\]\((?!http)([^)#]+)\)/g)].map((match) => match[1] ?? '');
  expect(links.length).toBeGreaterThan(2);
  for (const link of links) expect(existsSync(join(root, link)), link).toBe(true);
});

test('every command and option of the README exists', () => {
  const help =
    'run replay shrink show check compare mutants merge sweep worker list schema init doctor'
      .split(' ')
      .map((name) => [name])
      .concat([
        ['corpus', 'add'],
        ['corpus', 'prune'],
      ])
      .map((name) =>
        spawnSync('node', ['dist/cli.js', ...name, '--help'], { cwd: root, encoding: 'utf8' }),
      )
      .map(({ stdout }) => stdout)
      .join('\n');
  for (const [option = ''] of readme.matchAll(/(?<=`)--[a-z-]+/g)) expect(help).toContain(option);
});

test('every check that the README shows judges a history', () => {
  const commands = [...readme.matchAll(/(?<=`npx fencepost )check [^`]+/g)].map(([text]) => text);
  expect(commands.length).toBeGreaterThan(0);
  for (const command of commands) {
    const args = ['dist/cli.js', ...command.split(/\s+/)];
    const { status, stdout } = spawnSync('node', args, { cwd: root, encoding: 'utf8' });
    expect([0, 1], command).toContain(status);
    expect(stdout).toMatch(/[✓✗] (in)?valid/);
  }
});

test('the examples in the README run, and say what their comments say', () => {
  const examples = [...readme.matchAll(/(?<=```ts\n)[\s\S]*?(?=\n```)/g)]
    .map(([text]) => text)
    .filter((text) => !text.includes("'fencepost/vitest'")); // vitest.test.ts runs that one
  const words = /granted|denied|accepted|refused/g;
  const isOfClasses = (text: string): boolean => /\/\/ (granted|denied|accepted)/.test(text);
  const ofClasses = examples.filter(isOfClasses);
  expect(ofClasses.length).toBeGreaterThan(1);
  expect(examples.length - ofClasses.length).toBe(3);
  const folder = mkdtempSync(join(root, 'dist/readme-'));
  const local = (text: string): string =>
    text
      .replaceAll("from 'fencepost'", "from '../index.js'")
      .replaceAll("from 'fencepost/fast-check'", "from '../fast-check.js'");
  const rest = examples.filter((text) => !isOfClasses(text)).map(local);
  const [sweep = '', own = '', checker = ''] = rest;
  const run = (text: string): string => {
    writeFileSync(join(folder, 'example.ts'), text);
    const options = ['--ignoreConfig', '--module', 'nodenext', '--target', 'es2022', '--strict'];
    const types = ['--types', 'node', '--lib', 'es2023', '--skipLibCheck'];
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const built = spawnSync('node', [tsc, ...options, ...types, join(folder, 'example.ts')], {
      encoding: 'utf8',
    });
    expect(built.stdout).toBe('');
    return spawnSync('node', [join(folder, 'example.js')], { cwd: root, encoding: 'utf8' }).stdout;
  };
  expect(run(sweep)).toContain("kind: 'pause'");
  for (const classes of ofClasses) {
    const said = [...classes.matchAll(/\/\/ (\w+)/g)].map(([, word]) => word);
    expect(run(local(classes)).match(words)).toEqual(said);
  }
  expect(run(own)).toBe('patient\n');
  expect(run(checker)).toContain('bob');
  rmSync(folder, { recursive: true });
});
