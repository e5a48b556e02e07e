/** A sweep has one result in every layout, although a module may draw, count and cache on load. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { some } from '../../../properties/runs.ts';
import { runCli } from '../../cli/command-line.fixture.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const cli = join(root, 'dist/cli.js');

const LOCK = `import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { defineSystem } from 'fencepost';
import { RedisClient, RedisNode } from 'fencepost/redis';
import { jitter } from 'calm';
import { count } from 'counts';

const OWNER = randomUUID() + process.pid;
// Another in each zone, and each language, if it were the machine's.
const HERE_MS = new Date(2024, 0, 31, 23).getHours() + [1234.5, 'ä'.localeCompare('z')].toLocaleString().length;
const LAZY_MS = Math.floor(Math.random() * 20) + HERE_MS + new Date(0).getHours();
let taken = 0;
const known = new Map();

const lockOf = (more) => (world) => {
  const node = world.addServer({ name: 'lock', role: 'lock' }, new RedisNode());
  return (client) => {
    const redis = new RedisClient(client, node);
    return async (section) => {
      taken += 1;
      if (!known.has(section.lock)) known.set(section.lock, await redis.script('LOAD', 'return 1'));
      await wait(LAZY_MS + taken * known.size + jitter() + more());
      const untilMs = Date.now() + section.ttlMs;
      const got = await redis.set(section.lock, OWNER + taken, 'PX', section.ttlMs, 'NX');
      if (got !== 'OK') return;
      const guard = section.guard({ untilMs });
      await guard.work();
      guard.leave();
      await redis.del(section.lock);
    };
  };
};
const lazy = { about: 'keeps things', buildAsync: lockOf(() => 0) };
const counting = { about: 'uses a package that keeps things', buildAsync: lockOf(count) };
export default defineSystem({ locks: { lazy, counting } });
`;

/** One package can be reused across seeds; the other keeps state, which shows in its runs. */
const PACKAGES = {
  calm: 'exports.jitter = () => Math.floor(Math.random() * 3);',
  counts: 'let calls = 0; exports.count = () => (calls += 1);',
};

const SCENARIO = `name: lazy
use: ./lazy.mjs
systems:
  lazy: { lock: lazy, store: unfenced }
  counting: { lock: counting, store: unfenced }
clients: { count: 3, ttl: 20ms, sections: 2, think: 0ms..10ms }
workload: { kind: read-modify-write }
network: { latency: 1ms..2ms }
faults:
  - pause: { process: clients, for: 1ms..60ms, chance: 1/2 }
  - crash: { process: clients, at: 1ms..40ms, restart: 1ms..5ms, chance: 1/4 }
`;

/** Returns the output of `run` without its speed. */
function resultWith(file: string, folder: string, { workers, env }: Layout): string {
  const args = [cli, 'run', file, '--seeds', '96', '--json', '--quiet', '--output', folder];
  const output = execFileSync(process.execPath, [...args, '--workers', String(workers)], {
    encoding: 'utf8',
    cwd: folder,
    env: { ...process.env, ...env },
  });
  return output.replace(/"\w+PerSecond":[\d.]+,?/g, '');
}

/** Writes a project, and returns the path of its scenario. */
function writeProject(folder: string): string {
  for (const [name, text] of Object.entries(PACKAGES)) {
    mkdirSync(join(folder, 'node_modules', name), { recursive: true });
    writeFileSync(join(folder, 'node_modules', name, 'index.js'), text);
  }
  symlinkSync(root, join(folder, 'node_modules/fencepost'));
  writeFileSync(join(folder, 'lazy.mjs'), LOCK);
  const file = join(folder, 'lazy.yaml');
  writeFileSync(file, SCENARIO);
  return file;
}

interface Layout {
  readonly workers: number;
  readonly env: Readonly<Record<string, string>>;
}

const LAYOUTS: readonly Layout[] = [
  { workers: 0, env: { TZ: 'Asia/Kolkata' } },
  { workers: 1, env: { LC_ALL: 'de_DE.UTF-8', TZ: 'America/New_York' } },
  { workers: 2, env: {} },
  { workers: 3, env: { LC_ALL: 'sv_SE.UTF-8' } },
];
/** Layouts that a second process repeats: another half in each commit, all of them nightly. */
const REPEATED = some(LAYOUTS);

test('a sweep has one result in all layouts, zones and languages, and when it is repeated', {
  timeout: 600_000,
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'fencepost-layouts-'));
  const file = writeProject(folder);
  const results = [...LAYOUTS, ...REPEATED].map((layout) => resultWith(file, folder, layout));
  expect(results[0]).toContain('"lazy"');
  expect(new Set(results).size).toBe(1);
});

test('a package that keeps state across seeds is named, and loaded again for each', {
  timeout: 120_000,
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'fencepost-keeper-'));
  const args = ['run', writeProject(folder), '--seeds', '40', '--check-determinism'];
  const { err } = runCli(args, { cwd: folder });
  expect(err).toContain('  determinism: 80 runs repeated, all events equal\n');
  expect(err).toMatch(
    / {2}modules: \d+ seeds of lazy repeated with fresh modules, no difference\n/,
  );
  expect(err).toMatch(
    / {2}modules: counting runs each seed with fresh modules: counts keeps state between seeds \(seed 1: event \d+ differs: /,
  );
});
