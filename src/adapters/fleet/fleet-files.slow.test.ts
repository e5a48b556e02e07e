/**
 * Tests the Dockerfile and the compose file in `fixtures/fleet`: their documented commands work,
 * and containers produce the promised files and exit codes. Instead of each container, there is a
 * folder laid out as the image and the mounts specify.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
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
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { needs } from '../../../tools/needs.ts';
import { root } from '../../cli/command-line.fixture.ts';
import { hasRealRedis } from '../../host/redis/real-redis.fixture.ts';
import { RedisServer } from './trial/redis.fixture.ts';

interface Manifest {
  readonly version: string;
  readonly devDependencies: Readonly<Record<string, string>>;
}

interface Service {
  readonly command: readonly string[];
  readonly volumes: readonly string[];
  readonly working_dir: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly [other: string]: unknown;
}

interface Compose {
  readonly services: Readonly<Record<'redis' | 'coordinator' | 'worker', Service>>;
}

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const folder = mkdtempSync(join(tmpdir(), 'fencepost-files-'));
const sweep = join(folder, 'project/sweep');
const bin = join(folder, 'bin');
const image = join(folder, 'image/work');
const manifest: Manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const zombie = readFileSync(join(root, 'fixtures/zombie-writer.yaml'), 'utf8');
/** The same scenario, but the claim that breaks is listed under `holds`. */
const wrong = zombie.replace(/breaks: \[.*\]/, 'holds: [grant-order]');

const textOf = (name: string): string => readFileSync(join(root, 'fixtures/fleet', name), 'utf8');

/** Returns the commands in the header comment of a file. */
function commandsIn(name: string): readonly string[] {
  const [head = ''] = textOf(name).split(/^[^#]/m);
  return [...head.matchAll(/^# {3}(\S.*)$/gm)].map(([, command = '']) => command);
}

function shell(command: string, cwd: string): { code: number | null; out: string; err: string } {
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}`, STUB: folder };
  const ended = spawnSync('sh', ['-euc', command], { cwd, env, encoding: 'utf8' });
  return { code: ended.status, out: ended.stdout, err: ended.stderr };
}

/** Creates a program that only records its arguments. */
function stub(name: string): void {
  mkdirSync(bin, { recursive: true });
  const text = `#!/bin/sh\nprintf '%s\\n' "$*" >> "$STUB/${name}.txt"\n`;
  writeFileSync(join(bin, name), text, { mode: 0o755 });
}

const given = (name: string): readonly string[] =>
  readFileSync(join(folder, `${name}.txt`), 'utf8')
    .trim()
    .split('\n');

beforeAll(() => {
  stub('docker');
  const project = join(folder, 'project');
  mkdirSync(join(project, 'node_modules'), { recursive: true });
  symlinkSync(root, join(project, 'node_modules/fencepost'));
  const { code, err } = shell(commandsIn('compose.yaml').join('\n'), project);
  expect(code, err).toBe(0);
  const [tarball = ''] = readdirSync(sweep).filter((name) => name.endsWith('.tgz'));
  const installed = join(image, 'node_modules/fencepost');
  mkdirSync(installed, { recursive: true });
  const flags = ['--extract', '--strip-components=1', '--directory', installed];
  expect(spawnSync('tar', [...flags, '--file', join(sweep, tarball)]).status).toBe(0);
  symlinkSync(join(root, 'node_modules'), join(installed, 'node_modules'));
  mkdirSync(join(image, 'node_modules/.bin'));
  symlinkSync('../fencepost/dist/cli.js', join(image, 'node_modules/.bin/fencepost'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Creates the folder for `/work` of a container. Returns it with the environment of its commands.
 */
function workFolder(name: string): { readonly work: string; readonly env: NodeJS.ProcessEnv } {
  const work = join(folder, name);
  mkdirSync(work, { recursive: true });
  symlinkSync(join(image, 'node_modules'), join(work, 'node_modules'));
  const PATH = `${join(image, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}`;
  return { work, env: { ...process.env, PATH, NO_COLOR: '1' } };
}

/** Instructions with their arguments; a line that ends with `\` continues in the next. */
const instructions = textOf('Dockerfile')
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '')
  .map((line): [string, string] => {
    const [word = ''] = line.split(' ');
    return [word, line.slice(word.length + 1)];
  });
const argumentOf = (word: string): string =>
  instructions.find(([name]) => name === word)?.[1] ?? '';

describe('the image of a fleet', () => {
  test('has its instructions in a working order, and a user who is not root', () => {
    const order = ['FROM', 'ARG', 'WORKDIR', 'COPY', 'RUN', 'ENV', 'USER', 'CMD'];
    expect(instructions.map(([word]) => word)).toEqual(order);
    expect(argumentOf('FROM')).toMatch(/^node:(22|24)-slim$/);
    expect(argumentOf('WORKDIR')).toBe('/work');
    expect(argumentOf('ENV')).toBe('PATH=/work/node_modules/.bin:$PATH');
    expect(argumentOf('USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(JSON.parse(argumentOf('CMD'))).toEqual(['fencepost', '--help']);
  });

  test('installs an existing tarball, and the peers of fencepost', () => {
    stub('npm');
    stub('chown');
    const work = join(folder, 'build');
    mkdirSync(work);
    expect(shell(`cp ${argumentOf('COPY').replace('./', work)}`, sweep).code).toBe(0);
    const { code, err } = shell(`${argumentOf('ARG')}; ${argumentOf('RUN')}`, work);
    for (const name of ['npm', 'chown']) rmSync(join(bin, name));
    expect(code, err).toBe(0);
    const [, ...packages] = (given('npm')[0] ?? '').split(' ').filter((one) => !/^--/.test(one));
    // Any peer version within range works; the image has the ones used in development.
    const peers = ['bullmq', 'ioredis'].map((name) => {
      return `${name}@${/\d+/.exec(manifest.devDependencies[name] ?? '')?.[0]}`;
    });
    const tarball = `./fencepost-${manifest.version}.tgz`;
    expect(packages).toEqual([tarball, ...peers]);
    expect(existsSync(join(work, tarball))).toBe(true);
    expect(textOf('Dockerfile')).toContain(`FENCEPOST=fencepost@${manifest.version}`);
  });
});

function compose(variables: Readonly<Record<string, string>> = {}): Compose {
  const filled = textOf('compose.yaml').replace(
    /\$\{(\w+):-([^}]*)\}/g,
    (_, name: string, otherwise: string) => variables[name] ?? otherwise,
  );
  expect(filled.replace(/^#.*$/gm, '')).not.toContain('$');
  return parse(filled, { strict: true, uniqueKeys: true, merge: true });
}

describe('the compose file of a fleet', () => {
  test('matches the documented commands and their folders', () => {
    const { services } = compose();
    const [up, run, down, ...others] = given('docker');
    expect(up).toMatch(/^compose up --build --detach --scale worker=\d+ worker$/);
    expect(run).toBe('compose run --rm coordinator');
    expect([down, others]).toEqual(['compose down', []]);
    for (const { volumes } of [services.coordinator, services.worker]) {
      for (const volume of volumes) {
        expect(existsSync(join(sweep, volume.split(':')[0] ?? '')), volume).toBe(true);
      }
    }
    const dockerfile = join(sweep, String(services.worker['build']), 'Dockerfile');
    expect(readFileSync(dockerfile, 'utf8')).toBe(textOf('Dockerfile'));
    expect(services.worker['image']).toBe(`fencepost-sweep:${manifest.version}`);
  });

  needs('redis-server', hasRealRedis())(
    'sweeps with these commands, and returns the reports and exit code of the sweep',
    async () => {
      const { services } = compose({ FENCEPOST_SEEDS: '1..300' });
      const redis = await RedisServer.start(services.redis.command.slice(1));
      try {
        const worker = begin(services.worker, 'worker', redis.url);
        const first = await begin(services.coordinator, 'coordinator', redis.url).ended;
        expect(first.code, first.said).toBe(0);
        expect(readdirSync(join(sweep, 'reports'))).toContain('zombie-writer.html');
        writeFileSync(join(sweep, 'scenarios/zombie-writer.yaml'), wrong);
        const second = await begin(services.coordinator, 'coordinator-2', redis.url).ended;
        expect(second.code, second.said).toBe(1);
        worker.child.kill('SIGTERM');
        const { code, said } = await worker.ended;
        expect([code, said]).toEqual([0, expect.stringMatching(/shard \d+ of \d+: seeds/)]);
      } finally {
        await redis.end();
      }
    },
  );
});

/** Starts the command of a service, with its volumes instead of the folders of its container. */
function begin({ command, volumes, environment, working_dir }: Service, name: string, url: string) {
  expect([working_dir, environment]).toEqual(['/work', { FENCEPOST_QUEUE: 'redis://redis:6379' }]);
  const { work, env } = workFolder(name);
  for (const volume of volumes) {
    const [from = '', to = ''] = volume.split(':');
    symlinkSync(join(sweep, from), join(work, basename(to)));
  }
  const [program = '', ...args] = command;
  const child = spawn(program, args, { cwd: work, env: { ...env, FENCEPOST_QUEUE: url } });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      said += String(data);
    });
  }
  const ended = new Promise<{ code: number | null; said: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, said }));
  });
  return { child, ended };
}
