/**
 * Checks that the output in the README and docs is current, and that their commands and links
 * exist.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { builtIn } from '../../src/catalogue.ts';
import { runHere } from '../../src/cli/command-line.fixture.ts';
import { FAULT_WORDS } from '../../src/core/plan/fault-words.ts';
import { loadScenario } from '../../src/load.ts';
import { brokenLinks, pageOf, pages, pagesIn } from './pages.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const readme = pageOf('README.md');
const everything = [...pages.values()].join('\n');

test('the main job prints the failure in the README', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fencepost-'));
  const args = [join(root, 'dist/cli.js'), 'run', 'zombie-writer'];
  const env = { ...process.env, NO_COLOR: '1' };
  const { stdout } = spawnSync('node', args, { cwd: folder, encoding: 'utf8', env });
  rmSync(folder, { recursive: true });
  const [shown = ''] = /(?<=failure:begin -->\n```text\n)[\s\S]*?(?=\n```)/.exec(readme) ?? [];
  const story = shown.slice(0, shown.indexOf('replay:'));
  expect(story.length, 'run `npm run sample`').toBeGreaterThan(500);
  expect(stdout).toContain(story);
});

test('no printed, generated or shown command fetches a package that is not installed', () => {
  const folders = [
    'src',
    'fixtures/starter',
    'fixtures/plans',
    'fixtures/modules',
    'docs',
    'tools',
  ];
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ts|mts|mjs|md|yaml|yml)$/.test(name))
      .map((name) => `${folder}/${name}`),
  );
  const fetching = /npx (?=fencepost)|'npx', (?='fencepost')/;
  const found = ['README.md', ...files].filter((file) =>
    fetching.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(found).toEqual([]);
});

test('the first scenario on the page on scenarios loads', () => {
  const [text = ''] = /(?<=```yaml\n)[\s\S]*?(?=\n```)/.exec(pageOf('docs/scenarios.md')) ?? [];
  expect(loadScenario(text, 'a.yaml')).toMatchObject({ kind: 'scenario', warnings: [] });
});

test('the README tests the lock of fixtures/driver, as the guide does', () => {
  for (const name of ['lock.fencepost.ts', 'lock.yaml']) {
    const text = readFileSync(join(root, 'fixtures/driver', name), 'utf8');
    expect(readme, name).toContain(`\n${text}\`\`\`\n`);
  }
});

/** Returns the first table of a page, its rows as cells. */
function chooserOf(path: string): readonly (readonly string[])[] {
  const [, rows = ''] = /\n\| --- .*\n((?:\|.*\n)+)/.exec(pageOf(path)) ?? [];
  return rows
    .split('\n')
    .filter((row) => row !== '')
    .map((row) => row.split(' | '));
}

test('every fault in the table of the page loads in a scenario; the table has each kind', () => {
  const begin = 'name: a\nsystems: { a: { lock: lock-service, store: fenced } }\nclients: 2\n';
  const kinds = chooserOf('docs/faults.md').flatMap(([, cell = '']) => {
    const link = /network: \{.*?\}/.exec(cell)?.[0] ?? '';
    return [...cell.matchAll(/`(([\w-]+): \{[^`]*\})`/g)].flatMap(([, fault, kind = '']) => {
      if (kind === 'network') return [];
      const text = `${begin}${link}\nfaults:\n  - ${fault}\n`;
      const read = loadScenario(text, 'a.yaml');
      expect(read.kind === 'problems' ? read.problems : [], fault).toEqual([]);
      return [kind];
    });
  });
  expect([...new Set(kinds)].sort()).toEqual(Object.keys(FAULT_WORDS).sort());
});

test('every claim in the table of the page exists, and the table has each claim', () => {
  const named = chooserOf('docs/claims.md').flatMap(([, cell = '']) =>
    [...cell.matchAll(/(?<=`(?:holds: \[)?)[a-z]+(?:-[a-z]+)*(?=\]?`)/g)].map(([claim]) => claim),
  );
  const claims = [...builtIn.claims.keys()].filter((claim) => !claim.includes('('));
  expect([...new Set(named)].sort()).toEqual(claims.sort());
});

test.each(pagesIn(root))('every file and heading that %s links to exists', (path) => {
  expect(brokenLinks(root, path)).toEqual([]);
});

/** The page without its part on contributing, whose recipes another test follows. */
const [architecture = ''] = pageOf('docs/architecture.md').split('## Contributing');

test('every file that the page on architecture names is in src', () => {
  const named = [...architecture.matchAll(/`([\w/-]+\.ts)`/g)].map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((path) => !existsSync(join(root, 'src', path)))).toEqual([]);
});

const layers = [...architecture.matchAll(/^\| `(\w+)` \|.*\| `([\w/-]+\.ts)` \|$/gm)];

test.each(layers.map(([, layer = '', first = '']) => [layer, first]))(
  'the first file of %s, %s, names the files to read next',
  (layer, first) => {
    const text = readFileSync(join(root, 'src', first), 'utf8');
    const named = [...text.slice(0, text.indexOf('*/')).matchAll(/`([\w/-]+\.ts)`/g)];
    expect(named.length).toBeGreaterThanOrEqual(4);
    for (const [, path = ''] of named) {
      const folders = [dirname(first), dirname(dirname(first)), layer, 'text'];
      const found = folders.some((folder) => existsSync(join(root, 'src', folder, path)));
      expect(found, path).toBe(true);
    }
  },
);

test('every layer of src has a file to read first', () => {
  const folders = readdirSync(join(root, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  expect(layers.map(([, layer]) => layer).sort()).toEqual(folders.sort());
});

test('the README leads to every page of docs', () => {
  for (const path of pages.keys()) {
    if (path !== 'README.md') expect(readme, path).toContain(`](${path})`);
  }
});

/** Counts words as `wc -w` does. */
const wordsIn = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length;

test('there are at most 14 pages and 20,000 words, without generated pages', () => {
  const written = [...pages].filter(
    ([path]) => !path.startsWith('reports/') && path !== 'docs/documents.md',
  );
  expect(written.length).toBeLessThanOrEqual(14);
  expect(written.reduce((sum, [, text]) => sum + wordsIn(text), 0)).toBeLessThanOrEqual(20_000);
});

test('a report has at most 700 words and names the command that writes it', () => {
  const reports = [...pages].filter(([path]) => path.startsWith('reports/'));
  expect(reports.length).toBeGreaterThan(0);
  for (const [path, text] of reports) {
    expect(wordsIn(text), path).toBeLessThanOrEqual(700);
    expect(text, path).toMatch(/^# .*\n\nWritten by `np[mx] /);
  }
});

test('the README has at most 180 lines', () => {
  expect(readme.split('\n').length).toBeLessThanOrEqual(180);
});

test('every command and option that a page shows exists', async () => {
  const commands =
    'run,replay,shrink,show,check,merge,sweep,worker,list,schema,init,doctor,corpus add,corpus update,corpus prune';
  let help = '';
  for (const command of commands.split(',')) {
    help += `${(await runHere([...command.split(' '), '--help'])).out}\n`;
  }
  for (const [option = ''] of everything.matchAll(/(?<=`)--[a-z-]+/g)) {
    expect(help).toContain(option);
  }
});

test('every check that a page shows judges a history', () => {
  const commands = [...everything.matchAll(/(?<=`fencepost )check [^`]+/g)].map(([text]) => text);
  expect(commands.length).toBeGreaterThan(0);
  for (const command of commands) {
    const args = ['dist/cli.js', ...command.split(/\s+/)];
    const { status, stdout } = spawnSync('node', args, { cwd: root, encoding: 'utf8' });
    expect([0, 1], command).toContain(status);
    expect(stdout).toMatch(/[✓✗] (in)?valid/);
  }
});
