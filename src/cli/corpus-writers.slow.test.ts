/**
 * Tests concurrent writers of a corpus, and writers that are killed: every visible file is
 * complete, and no process undoes the work of another.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { root, runHere } from './command-line.fixture.ts';

const cli = join(root, 'dist/cli.js');
const faulty = join(root, 'src/cli/faulty-files.fixture.mjs');
const folder = mkdtempSync(join(tmpdir(), 'fencepost-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A plan, a less simple version of it, and another kind of failure that would get its name. */
const zombie = join(root, 'fixtures/plans/zombie-writer-unfenced-grant-order.yaml');
const longer = edited('longer.yaml', 'for: 20ms', 'for: 21.7ms');
const other = edited('other.yaml', 'before: bob/3/write', 'after: bob/3/checked');

function edited(name: string, from: string, to: string): string {
  const file = join(folder, name);
  const text = readFileSync(zombie, 'utf8');
  expect(text).toContain(from);
  writeFileSync(file, text.replace(from, to));
  return file;
}

let folders = 0;
function newFolder(...plans: readonly string[]): string {
  folders += 1;
  const made = join(folder, `corpus-${folders}`);
  mkdirSync(made);
  for (const plan of plans) copyFileSync(plan, join(made, `kept-${readdirSync(made).length}.yaml`));
  return made;
}

/**
 * Runs a process that dies at this file change. Returns its exit code, or null if it was killed.
 */
function dying(args: readonly string[], dieAt: string): number | null {
  const env = { ...process.env, NO_COLOR: '1', DIE_AT: dieAt };
  return spawnSync('node', ['--import', faulty, cli, ...args], { stdio: 'ignore', env }).status;
}

/** Returns the plans of a folder, each of which must be complete. */
function completePlans(at: string): readonly string[] {
  const visible = readdirSync(at).filter((name) => !name.startsWith('.'));
  for (const name of visible) {
    const text = readFileSync(join(at, name), 'utf8');
    expect(
      [zombie, longer].map((file) => readFileSync(file, 'utf8')),
      name,
    ).toContain(text);
  }
  return visible;
}

describe('killed at any of its file changes', () => {
  test('an add leaves the corpus with or without the plan, and the next add succeeds', async () => {
    const kills = await killsOf(async (dieAt) => {
      const at = newFolder();
      const code = dying(['corpus', 'add', zombie, '--corpus', at], dieAt);
      const before = completePlans(at);
      const next = await runHere(['corpus', 'add', zombie, '--corpus', at]);
      expect(next.code).toBe(0);
      expect(next.out).toContain(before.length === 0 ? 'added as' : 'already kept');
      expect(completePlans(at)).toHaveLength(1);
      return code;
    });
    expect(kills).toBeGreaterThan(4);
  });

  test('a replacement leaves the old or new plan; the next one reports what to do', async () => {
    const kills = await killsOf(async (dieAt) => {
      const at = newFolder(longer);
      const add = ['corpus', 'add', zombie, '--replace', '--corpus', at];
      const code = dying(add, dieAt);
      expect(completePlans(at)).toEqual(['kept-0.yaml']);
      const next = await runHere(add);
      const left = readdirSync(at).filter((name) => name.endsWith('.new'));
      if (left.length > 0) expect(next.err).toContain(`delete ${join(at, left[0] ?? '')}`);
      for (const name of left) rmSync(join(at, name));
      expect([0, 2]).toContain((await runHere(add)).code);
      expect(readFileSync(join(at, 'kept-0.yaml'))).toEqual(readFileSync(zombie));
      return code;
    });
    expect(kills).toBeGreaterThan(4);
  });
});

/** Returns how often a process was killed until it finished. */
async function killsOf(attempt: (dieAt: string) => Promise<number | null>): Promise<number> {
  for (let kills = 0; kills < 60; kills += 1) {
    if ((await attempt(String(kills + 1))) !== null) return kills;
  }
  throw new Error('it never came to its end');
}

describe('two concurrent adds', () => {
  /** Starts both; each has read the corpus before either writes to it. */
  async function addAtOnce(at: string, ...plans: readonly string[]): Promise<readonly number[]> {
    const meeting = newFolder();
    const env = { ...process.env, MEET: meeting };
    const codes = plans.map((plan) => {
      const args = ['--import', faulty, cli, 'corpus', 'add', plan, '--corpus', at];
      const child = spawn('node', args, { cwd: root, env, stdio: 'ignore' });
      return new Promise<number>((resolve) => child.on('exit', (code) => resolve(code ?? -1)));
    });
    const ended = await Promise.all(codes);
    expect(readdirSync(meeting)).toHaveLength(2);
    return ended;
  }

  test('keep the same failure once', async () => {
    const at = newFolder();
    const codes = await addAtOnce(at, zombie, longer);
    expect([...codes].sort()).toEqual([0, 0]);
    expect(completePlans(at)).toHaveLength(1);
  });

  test('keep two failures with one name', async () => {
    const at = newFolder();
    expect(await addAtOnce(at, zombie, other)).toEqual([0, 0]);
    const texts = readdirSync(at).map((name) => readFileSync(join(at, name), 'utf8'));
    const both = [zombie, other].map((file) => readFileSync(file, 'utf8'));
    expect([...texts].sort()).toEqual([...both].sort());
  });
});
