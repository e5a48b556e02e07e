/**
 * Tests the files of `init` in an empty folder with the built package in `node_modules`: the
 * scenarios meet their expectations, the tests pass, and the steps of the workflow run.
 */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { rotating } from '../../properties/runs.ts';
import { readModule } from '../host/modules/read-module.ts';
import { runHere } from './command-line.fixture.ts';
import { starterFiles, startersIn, templateOf } from './init.ts';
import { lockRisks } from './lock-risks.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const cli = join(root, 'dist/cli.js');
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

interface BothStreams {
  readonly code: number | null;
  readonly out: string;
}

/** Creates a folder that contains only installed packages. */
function emptyProject(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fencepost-init-'));
  folders.push(folder);
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/fencepost'));
  symlinkSync(join(root, 'node_modules/vitest'), join(folder, 'node_modules/vitest'));
  return folder;
}

function node(folder: string, args: readonly string[]): BothStreams {
  const env = { PATH: process.env['PATH'], HOME: folder, NO_COLOR: '1' };
  const ended = spawnSync('node', args, { cwd: folder, encoding: 'utf8', env });
  return { code: ended.status, out: ended.stdout + ended.stderr };
}

/** Runs the built package, as users do. */
function fencepost(folder: string, ...args: string[]): BothStreams {
  return node(folder, [cli, ...args]);
}

/** Runs the sources in this process, in a fraction of the CPU time. */
async function fencepostHere(folder: string, ...args: string[]): Promise<BothStreams> {
  const { code, out, err } = await runHere(args, { cwd: folder });
  return { code, out: out + err };
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

const pack = z.object({ files: z.array(z.object({ path: z.string() })) });

/** Each of these takes half a minute or more. */
const inTurn = rotating(test);

describe('the written project', () => {
  let folder = '';
  beforeAll(() => {
    folder = emptyProject();
    expect(fencepost(folder, 'init', '--ci', 'github').code).toBe(0);
  });

  test('has a file for every template, and no others', () => {
    expect(filesBelow(folder)).toEqual(
      startersIn(false)
        .map(({ target }) => target)
        .sort(),
    );
    const templates = filesBelow(join(root, 'fixtures/starter'));
    expect(templates).toEqual(starterFiles.map(templateOf).sort());
  });

  test('has scenarios that meet their expectations', () => {
    const { out } = fencepost(folder, 'init');
    const [, command = ''] = /^next: npx --no-install fencepost (.*)$/m.exec(out) ?? [];
    const readme = readFileSync(join(root, 'README.md'), 'utf8');
    expect(readme).toContain(
      `npx --no-install fencepost init\nnpx --no-install fencepost ${command}\n`,
    );
    const { code, out: output } = fencepost(folder, ...command.split(' '), '--seeds', '40', '-v');
    expect(output).toMatch(/5 of 5 expectations met/);
    expect(output).not.toContain('broke, unlisted');
    expect(output).toContain('Stale write accepted');
    expect(output).toContain('who no longer held it');
    expect(output).toContain('Acknowledged increment lost');
    expect(code).toBe(0);
  });

  test('has tests that vitest passes and TypeScript accepts', () => {
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    const { code, out } = node(folder, [vitest, 'run', 'locks', '--root', folder]);
    expect(out).toMatch(/Tests +3 passed/);
    expect(code).toBe(0);
    const strict = ['--ignoreConfig', '--noEmit', '--strict', '--module', 'nodenext'];
    const rest = ['--target', 'es2022', '--lib', 'es2023', '--skipLibCheck'];
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const checked = node(folder, [tsc, ...strict, ...rest, 'locks/locks.test.ts']);
    expect(checked).toEqual({ code: 0, out: '' });
  });

  test('refers editors to an existing schema', () => {
    for (const { target } of startersIn(false).filter((file) => file.target.startsWith('locks/'))) {
      if (!target.endsWith('.yaml')) continue;
      const text = readFileSync(join(folder, target), 'utf8');
      const [, schema = ''] = /^# yaml-language-server: \$schema=(.+)$/m.exec(text) ?? [];
      expect(existsSync(join(folder, 'locks', schema)), schema).toBe(true);
    }
  });

  test('comes from templates in the published package', () => {
    const args = ['pack', '--dry-run', '--ignore-scripts', '--json'];
    const { stdout } = spawnSync('npm', args, { cwd: root, encoding: 'utf8' });
    const [packed] = z.tuple([pack]).parse(JSON.parse(stdout));
    const paths = packed.files.map(({ path }) => path);
    const templates = starterFiles.map((file) => `fixtures/starter/${templateOf(file)}`);
    const wanted = [...templates, 'fixtures/canary/canary.yaml'];
    expect(wanted.filter((path) => !paths.includes(path))).toEqual([]);
  });
});

describe('a lock on ioredis', () => {
  let folder = '';
  beforeAll(() => {
    folder = emptyProject();
    symlinkSync(join(root, 'node_modules/ioredis'), join(folder, 'node_modules/ioredis'));
    symlinkSync(join(root, 'node_modules/@types'), join(folder, 'node_modules/@types'));
    const manifest = { name: 'service', type: 'module', dependencies: { ioredis: '^5' } };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(folder, 'tsconfig.json'), '{}');
    expect(fencepost(folder, 'init').code).toBe(0);
  });

  inTurn('breaks as first written, and holds with the fenced server', () => {
    const { code, out } = fencepost(
      folder,
      'run',
      'locks/my-lock.yaml',
      '--seeds',
      '10',
      '--workers',
      '0',
    );
    expect(out).toMatch(/2 of 2 expectations met/);
    expect(out).not.toContain('unlisted');
    expect(out).toMatch(/same plan on twin fenced: .*⊘ refused/);
    expect(code).toBe(0);
  });

  inTurn('passes in vitest, and TypeScript accepts it', () => {
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    const env = ['run', 'locks', '-t', 'my lock', '--root', folder];
    const { code, out } = node(folder, [vitest, ...env]);
    expect(out).toMatch(/Tests +1 passed/);
    expect(code).toBe(0);
    const strict = ['--ignoreConfig', '--noEmit', '--strict', '--module', 'nodenext'];
    const rest = ['--target', 'es2022', '--lib', 'es2023', '--skipLibCheck', '--types', 'node'];
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    expect(node(folder, [tsc, ...strict, ...rest, 'locks/my-lock.ts'])).toEqual({
      code: 0,
      out: '',
    });
  });

  test('is the same in JavaScript and TypeScript', () => {
    const bare = (name: string): string => {
      const read = readModule(pathToFileURL(join(root, 'fixtures/starter/ioredis', name)).href);
      const code = read.kind === 'read' ? read.text : expect.fail(read.kind);
      return code.replace(/\/\*.*\*\/|\/\/.*$/gm, '').replace(/\s+|,(?=\s*[)}])/g, '');
    };
    expect(bare('my-lock.ts')).toBe(bare('my-lock.mjs'));
  });
});

describe('for a known lock', () => {
  test.each(Object.entries(lockRisks))(
    '%s: its scenarios are written, and can be run',
    async (lock, risks) => {
      const folder = emptyProject();
      const { code, out } = await fencepostHere(folder, 'init', '--lock', lock);
      expect(code).toBe(0);
      const files = Object.keys(risks).map((name) => `locks/${name}.yaml`);
      expect(out).toContain(`next: npx --no-install fencepost run ${files.join(' ')}`);
      expect(filesBelow(folder)).toEqual([...files].sort());
      // One seed only shows that the file can be read where it was written, and runs.
      const [first = ''] = files;
      const ran = await fencepostHere(folder, 'run', first, '--seed', '0');
      expect([0, 1, 5], ran.out).toContain(ran.code);
      expect(ran.out).not.toMatch(/^locks\/.*:\d+:\d+/m);
    },
  );

  test('the breach and its cure are shown', async () => {
    const folder = emptyProject();
    await fencepostHere(folder, 'init', '--lock', 'pessimistic');
    const { code, out } = await fencepostHere(
      folder,
      'run',
      'locks/crashed-holder.yaml',
      '--seeds',
      '100',
    );
    expect(out).toMatch(/\(expected\).*\n +progress of pessimistic in crashed-holder/);
    expect(out).toMatch(/same plan on twin lease: .*progress\s+holds/s);
    expect(code).toBe(0);
  });

  test('an unknown name is refused with the known ones, and nothing is written', async () => {
    const folder = emptyProject();
    const { code, out } = await fencepostHere(folder, 'init', '--lock', 'zookeper');
    expect(code).toBe(2);
    for (const name of Object.keys(lockRisks)) expect(out).toContain(name);
    expect(out).not.toMatch(/^ +at /m);
    expect(filesBelow(folder)).toEqual([]);
  });
});

describe('an existing file or folder', () => {
  let folder = '';
  beforeEach(() => {
    folder = emptyProject();
    mkdirSync(join(folder, 'locks'));
    writeFileSync(join(folder, 'locks/zombie.yaml'), 'mine\n');
    writeFileSync(join(folder, 'package.json'), '{ "scripts": { "test": "mine" } }\n');
  });

  const textOf = (name: string): string => readFileSync(join(folder, name), 'utf8');

  test('is not changed, and is reported', async () => {
    const { code, out } = await fencepostHere(folder, 'init');
    expect(code).toBe(0);
    expect(out).toMatch(/^- left locks\/zombie\.yaml: it exists already$/m);
    expect(textOf('locks/zombie.yaml')).toBe('mine\n');
    const { scripts } = JSON.parse(textOf('package.json'));
    expect(scripts).toEqual({ test: 'mine', locks: expect.stringContaining('fencepost run') });
    expect(existsSync(join(folder, 'locks/my-lock.yaml'))).toBe(true);
  });

  test('is refused if it is not a folder, and created if it does not exist', async () => {
    expect(await fencepostHere(folder, 'init', 'package.json')).toMatchObject({ code: 2 });
    const { code, out } = await fencepostHere(folder, 'init', 'new/one');
    expect(code).toBe(0);
    expect(out).toContain('next: cd new/one && npx --no-install fencepost run locks/zombie.yaml');
    const text = readFileSync(join(folder, 'new/one/locks/zombie.yaml'), 'utf8');
    expect(text).toContain('$schema=../../../node_modules/fencepost/dist/scenario.schema.json');
  });

  test('of another package manager, or of a repository above, is mentioned', async () => {
    mkdirSync(join(folder, '.git'));
    mkdirSync(join(folder, 'part'));
    writeFileSync(join(folder, 'part/pnpm-lock.yaml'), '');
    const { out } = await fencepostHere(folder, 'init', 'part', '--ci', 'github');
    expect(out).toMatch(/^! .*workflows in \.\. only/m);
    expect(out).toMatch(/^! .*pnpm-lock\.yaml/m);
  });
});

const step = z.object({
  uses: z.string().optional(),
  run: z.string().optional(),
  with: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
});
const workflow = z.strictObject({
  name: z.string(),
  on: z.record(z.string(), z.unknown()),
  permissions: z.strictObject({ contents: z.literal('read') }),
  concurrency: z.record(z.string(), z.unknown()),
  env: z.strictObject({ NODE_VERSION: z.number() }),
  jobs: z.strictObject({
    shard: z.looseObject({
      strategy: z.looseObject({ matrix: z.strictObject({ shard: z.array(z.number()) }) }),
      steps: z.array(step),
    }),
    merge: z.looseObject({ needs: z.literal('shard'), steps: z.array(step) }),
    night: z.looseObject({ steps: z.array(step) }),
  }),
});

describe('the workflow', () => {
  const file = join(root, 'fixtures/starter/github/fencepost.yml');
  const { env, jobs } = workflow.parse(parse(readFileSync(file, 'utf8')));
  const { shard, merge, night } = jobs;

  /** Returns the inputs of the step that uses an action. */
  function given(steps: typeof shard.steps, action: string): (typeof shard.steps)[number]['with'] {
    const found = steps.find(({ uses }) => uses?.startsWith(`actions/${action}@v`) === true);
    if (found === undefined) throw new Error(`no step uses ${action}`);
    return found.with;
  }

  /** Returns the commands of fencepost, as arguments. */
  function commandsOf(steps: typeof shard.steps, index = 0): readonly (readonly string[])[] {
    return steps.flatMap(({ run = '' }) => {
      const [, command] = /^npx --no-install fencepost (.+)$/.exec(run.trim()) ?? [];
      const filled = command
        ?.replace(/\$\{\{ matrix\.shard \}\}/g, String(index))
        .replace(/\$\{\{ strategy\.job-total \}\}/g, String(shard.strategy.matrix.shard.length));
      // Expands the pattern like a shell.
      const all = filled?.replace('locks/*.yaml', 'locks/my-lock.yaml locks/zombie.yaml');
      return all === undefined ? [] : [all.split(/\s+/)];
    });
  }

  test('installs, caches, and uses a Node that the package supports', () => {
    const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(env.NODE_VERSION).toBeGreaterThan(Number(/\d+/.exec(engines.node)?.[0]));
    for (const { steps } of [shard, merge, night]) {
      expect(steps.map(({ run }) => run)).toContain('npm ci');
      expect(given(steps, 'setup-node')).toMatchObject({ cache: 'npm' });
    }
  });

  inTurn('has a nightly job that recognizes the findings of its previous run', () => {
    const folder = emptyProject();
    fencepost(folder, 'init', '--ci', 'github');
    expect(given(night.steps, 'cache')).toMatchObject({ path: 'baseline.json' });
    const scripts = night.steps.flatMap(({ run = '' }) => (run === 'npm ci' ? [] : [run]));
    const outputs = [1, 2].map(() =>
      scripts.map((script) => {
        const fewer = script
          .replace('npx --no-install fencepost', `node ${cli}`)
          .replace('--seeds 100000 --fresh', '--seeds 40 --workers 0');
        const { status, stdout, stderr } = spawnSync('bash', ['-e', '-c', fewer], {
          cwd: folder,
          encoding: 'utf8',
          env: { ...process.env, NO_COLOR: '1' },
        });
        expect(status, stdout + stderr).toBe(0);
        return stdout;
      }),
    );
    expect(existsSync(join(folder, 'reports/index.html'))).toBe(true);
    expect(outputs[0]?.join('')).not.toContain('known');
    expect(outputs[1]?.join('')).toMatch(/known/);
  });

  inTurn('with fewer seeds, finds failures in shards, then merges and reports them', async () => {
    const folder = emptyProject();
    await fencepostHere(folder, 'init', '--ci', 'github');
    const blobs = join(folder, String(given(merge.steps, 'download-artifact')['path']));
    mkdirSync(blobs);
    for (const index of shard.strategy.matrix.shard) {
      const [args = [], ...others] = commandsOf(shard.steps, index);
      expect(others).toEqual([]);
      const fewer = args
        .join(' ')
        .replace(/--seeds \d+/, '--seeds 40')
        .split(' ');
      const { code, out } = await fencepostHere(folder, ...fewer);
      expect(code, out).toBe(0);
    }
    const glob = String(given(shard.steps, 'upload-artifact')['path']);
    expect(glob).toBe('reports/shard-*.json');
    const reports = join(folder, 'reports');
    const written = readdirSync(reports).filter((name) => /^shard-.*\.json$/.test(name));
    expect(written).toHaveLength(shard.strategy.matrix.shard.length);
    for (const name of written) copyFileSync(join(reports, name), join(blobs, name));
    rmSync(reports, { recursive: true });
    const commands = commandsOf(merge.steps);
    expect(commands.map(([name]) => name)).toEqual(['doctor', 'merge']);
    for (const args of commands) {
      const { code, out } = await fencepostHere(folder, ...args);
      expect(code, out).toBe(0);
    }
    const kept = readdirSync(join(folder, String(given(merge.steps, 'upload-artifact')['path'])));
    expect(kept).toEqual(expect.arrayContaining(['junit.xml', 'zombie.html', 'my-lock.html']));
  });
});
