/**
 * Tests the output of user code, with the built package in `dist`: a sweep prints none of it; a
 * counterexample, a failed seed or a requested seed prints a bounded part.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Ended, root, runCli } from './command-line.fixture.ts';

let folder = '';
beforeAll(() => {
  // Inside the package, so that modules can import `fencepost`.
  folder = mkdtempSync(join(root, 'reports/noise-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const HEAD = `import fs from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { defineSystem } from 'fencepost';`;

interface Case {
  readonly name: string;
  readonly host?: string;
  /** Code to run when the module is loaded. */
  readonly load?: string;
  /** Code to run when a section begins. */
  readonly section?: string;
  readonly faults?: string;
}

/** Runs a command on a lock that consists of one SET, and prints. */
function fencepost(
  { name, host = 'localhost:6379', load = '', section = '', faults = '[]' }: Case,
  ...args: readonly string[]
): Ended & { readonly lines: readonly string[] } {
  const module = `${HEAD}
${load}
const redis = new Redis('redis://localhost:6379');
export default defineSystem({
  locks: {
    own: {
      about: 'one SET',
      operations: ['set'],
      buildAsync: () => () => async (section) => {
        ${section}
        while ((await redis.set(section.lock, 'x', 'PX', section.ttlMs, 'NX')) !== 'OK') await wait(5);
        const guard = section.guard();
        await guard.work();
        guard.leave();
        await redis.del(section.lock);
      },
    },
  },
});
`;
  const scenario = `name: ${name}
use: ./${name}.mjs
hosts: { ${host}: lock }
systems: { own: { lock: own, store: unfenced, expect: { holds: [grant-order] } } }
clients: { count: 3, ttl: 20ms, sections: 2, think: 0ms..10ms }
workload: { kind: read-modify-write }
network: { latency: 1ms..2ms }
faults: ${faults}
`;
  writeFileSync(join(folder, `${name}.mjs`), module);
  writeFileSync(join(folder, `${name}.yaml`), scenario);
  const [command = '', ...flags] = args;
  const ended = runCli([command, `${name}.yaml`, ...flags], { cwd: folder });
  const lines = `${ended.out}${ended.err}`.split('\n').filter((line) => line !== '');
  return { ...ended, lines };
}

const LOUD = `console.log('inside'); process.stderr.write('inside, in bytes\\n');
fs.writeSync(1, 'inside, below\\n'); process.emitWarning('inside, a warning');`;

test('a wrong host is printed once, with the line that adds it, for any number of seeds', () => {
  const { lines, code } = fencepost(
    { name: 'wrong', host: 'redis:6379' },
    'run',
    '--seeds',
    '1000',
  );
  expect(code).toBe(3);
  expect(lines.length).toBeLessThanOrEqual(30);
  const text = lines.join('\n');
  expect(text).toContain("add `'localhost:6379': 'lock'` to `hosts` in the scenario");
  expect(text.split('no server listens')).toHaveLength(2);
  expect(text).toContain('the other 992 seeds were not run');
});

test('a sweep prints the same lines for silent and noisy code, on any number of threads', () => {
  const quiet = fencepost({ name: 'calm' }, 'run', '--seeds', '24');
  for (const workers of ['0', '2']) {
    const args = ['run', '--seeds', '24', '--workers', workers];
    const { lines } = fencepost({ name: 'calm', section: LOUD }, ...args);
    expect(lines.join('\n')).not.toContain('inside');
    expect(lines.length).toBe(quiet.lines.length);
  }
  const json = fencepost({ name: 'calm', section: LOUD }, 'run', '--seeds', '24', '--json', '-q');
  expect(json.err).toBe('');
  for (const line of json.out.trim().split('\n')) expect(() => JSON.parse(line)).not.toThrow();
});

test('output of a definition while it is loaded appears once per command, on stderr', () => {
  const load = `console.log('loaded'); await null; process.stdout.write('loaded too\\n');`;
  const { out, err } = fencepost({ name: 'load', load }, 'run', '--seeds', '24', '--workers', '2');
  expect(out).not.toContain('loaded');
  expect(err.split('\n').filter((line) => line.includes('loaded'))).toEqual([
    'load.mjs | loaded',
    'load.mjs | loaded too',
  ]);
});

test('a requested seed shows its output, with repeated lines counted', () => {
  const section = `for (let at = 0; at < 13_000; at += 1) console.error('no connection, try', at);
console.log('gives up');`;
  for (const args of [
    ['run', '--seed', '3'],
    ['show', '--seed', '3'],
  ]) {
    const { out, lines } = fencepost({ name: 'retries', section }, ...args);
    expect(out).toMatch(/\w+ \| no connection, try 0\n\s+… 12,999 more\n\s+\w+ \| gives up/);
    expect(lines.length).toBeLessThan(100);
  }
  const { lines } = fencepost({ name: 'retries', section }, 'run', '--seeds', '12');
  expect(lines.join('\n')).not.toContain('no connection');
});

test('a counterexample shows the output of its shrunk run, in every report', () => {
  const faults = '[{ pause: { process: clients, before: write, for: 1ms..60ms, chance: 1/2 } }]';
  const found = { name: 'found', section: `console.log('takes', section.lock);`, faults };
  const { out, code } = fencepost(
    found,
    'run',
    '--seeds',
    '12',
    '--reporter',
    'text,html,junit,json',
  );
  expect(code).toBe(1);
  expect(out).toMatch(/\nprinted:\n {2}\w+ \| takes db\n/);
  for (const file of ['found.html', 'junit.xml', 'report.json']) {
    expect(readFileSync(join(folder, 'reports', file), 'utf8'), file).toMatch(/\w+ \| takes db/);
  }
});
