/** Tests `run --exhaust`: its output, its refusals, and resuming it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { outputLine } from '../report/output-schema.ts';
import { type Ended, root, runCli, runHere } from './command-line.fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'fencepost-exhaust-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const page = readFileSync(join(root, 'docs/exhaustive.md'), 'utf8');

function run(...args: readonly string[]): Promise<Ended> {
  return runHere(['run', ...args], { cwd: folder });
}

/** Returns the systems of the last line of `--json`, after a check against the shipped schema. */
function systemsOf({ out }: Ended): readonly Record<string, unknown>[] {
  const line = JSON.parse(out.trim().split('\n').at(-1) ?? '');
  outputLine.parse(line);
  return line.scenarios[0].systems;
}

const SMALL = ['--exhaust', '2', '--clients', '2', '--sections', '1'] as const;

/** The commands of the docs page, each with its output. */
const examples = [
  ...page.matchAll(/```sh\nnpx --no-install fencepost run (.*)\n```\n\n```text\n([\s\S]*?)\n```/g),
].map(([, words = '', shown = '']) => [words, shown] as const);

test.each(examples)(
  'the docs page shows the output of run %s',
  { timeout: 120_000 },
  async (words, shown) => {
    const { code, out } = await run(...words.split(' '));
    expect(shown).toMatch(/with a pause over \d+ ms at ttl/);
    expect(out).toContain(shown);
    expect(out).not.toMatch(/95 %|prove/);
    expect(code).toBe(0);
  },
);

test('a finding has the number of its plan, and only an exhaustive search has edges', async () => {
  expect(examples).toHaveLength(2);
  const { out } = await run('check-then-act', ...SMALL);
  expect(out).toContain('grant-order of unfenced in check-then-act, plan 16');
  expect((await run('check-then-act', '--seeds', '5')).out).not.toContain('at ttl');
});

test('more than a million plans are refused with an estimate, before any is judged', {
  timeout: 120_000,
}, async () => {
  const { code, err } = await run('zombie-writer', '--exhaust', '3');
  const [, shown = ''] = /```text\nzombie-writer\.yaml(:1:1 systems.*)\n```/.exec(page) ?? [];
  expect(shown).toContain('plans with ≤ 3 faults');
  expect(err).toContain(shown);
  expect(code).toBe(2);
});

test.each([
  [['--clients', '2'], '--clients: only with --exhaust; seeds take all'],
  [['--ties', '2'], '--ties: only with --exhaust; seeds draw every order'],
  [['--exhaust', '1', '--seed', '3'], '--seed: not with --exhaust, which runs no seeds'],
  [['--exhaust', 'two'], '--exhaust two: expected a whole number, e.g. 1000'],
  [['--exhaust', '1', '--sections', '0'], '--sections 0: expected at least 1'],
])('%j is refused', async (flags, what) => {
  const { code, err } = await run('check-then-act', ...flags);
  expect(err).toContain(what);
  expect(code).toBe(2);
});

test('one thread, several threads and a resumed run have the same result', {
  timeout: 120_000,
}, async () => {
  const json = ['--json', '--output', 'whole'];
  const one = systemsOf(await run('check-then-act', ...SMALL, ...json, '--workers', '0'));
  const two = systemsOf(
    runCli(['run', 'check-then-act', ...SMALL, ...json, '--workers', '2'], { cwd: folder }),
  );
  const few = ['--workers', '0', '--time', '1ms', '--output', 'parts'];
  const begun = await run('check-then-act', ...SMALL, ...few);
  expect(begun.code).toBe(5);
  expect(begun.err).not.toContain('plans 0..224: 450 runs');
  const rest = ['--resume', '--json', '--output', 'parts'];
  const ended = await run('check-then-act', ...SMALL, ...rest);
  expect(ended.err).toMatch(/resume: \d+ chunks? of seeds already done/);
  expect(two).toEqual(one);
  expect(named(systemsOf(ended))).toEqual(named(one ?? []));
  expect(one?.[0]).toMatchObject({
    met: true,
    seeds: 225,
    exhausted: { faults: 2, kinds: ['pause'], latencyUs: 1000, clients: 2, plans: 225 },
  });
});

test('shards merge into the result of one run, and missing ones are reported', {
  timeout: 120_000,
}, async () => {
  const unsharded = await run(
    'check-then-act',
    ...SMALL,
    '--workers',
    '0',
    '--json',
    '--output',
    'merged',
  );
  for (const part of ['1/3', '2/3', '3/3']) {
    const { code } = await run('check-then-act', ...SMALL, '--workers', '0', '--shard', part);
    expect(code).toBe(0);
  }
  const merge = (): Promise<Ended> =>
    runHere(['merge', 'reports', '--json', '-q', '--output', 'merged'], { cwd: folder });
  const merged = await merge();
  expect(merged.code).toBe(unsharded.code);
  expect(timeless(merged.out)).toBe(timeless(unsharded.out));
  const file = join(folder, 'reports/shard-2-of-3.json');
  const interrupted = ['--time', '1ms', '--workers', '0', '--shard', '2/3'];
  expect((await run('check-then-act', ...SMALL, ...interrupted)).code).toBe(5);
  const { code, err } = await merge();
  expect(err).toContain(`${join('reports', 'shard-2-of-3.json')}: incomplete: `);
  expect(err).toContain('of its 75 plans of check-then-act, unfenced');
  expect(code).toBe(5);
  rmSync(file);
  expect((await merge()).err).toContain('shard 2 of 3 missing');
});

function timeless(text: string): string {
  return text.replace(/"(seeds|events)PerSecond":\s*\d+/g, '');
}

/** Omits the files of counterexamples, which have separate folders. */
function named(systems: readonly Record<string, unknown>[]): readonly unknown[] {
  return systems.map((system) => ({ ...system, counterexample: null }));
}

test('asynchronous code is searched exhaustively too, and its expected breach is found', {
  timeout: 240_000,
}, async () => {
  for (const name of ['my-lock.yaml', 'my-lock.mjs', 'my-lock.fencepost.mjs']) {
    writeFileSync(join(folder, name), readFileSync(join(root, 'fixtures/guide', name)));
  }
  const { code, out, err } = await run(
    'my-lock.yaml',
    '--exhaust',
    '1',
    '--clients',
    '2',
    '--sections',
    '1',
  );
  expect({ code, err }).toMatchObject({ code: 0 });
  expect(out).toContain('2 of 2 expectations met');
  expect(out).toContain('exhausted: ≤ 1 fault of pause');
});
