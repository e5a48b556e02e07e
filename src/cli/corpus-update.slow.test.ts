/**
 * Tests `fencepost corpus update`: after edits of the lock of the guide, its kept plan still
 * replays, or a new name is suggested.
 */
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { outputLine } from '../report/output-schema.ts';
import { type Ended, root, runHere } from './command-line.fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'fencepost-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const lock = join(folder, 'my-lock.mjs');
const plans = join(folder, 'plans');
const plan = join(plans, 'my-lock-alone-grant-order.yaml');
const scenario = join(folder, 'my-lock.yaml');
const published = readFileSync(join(root, 'fixtures/guide/my-lock.mjs'), 'utf8');

/** A pause after the lock was taken, as a user would write it. */
const KEPT = `# Bob’s lease is over before he reads: found in June.
fencepost: 1
scenario: my-lock
use: { ./my-lock.fencepost.mjs: sha256:${'0'.repeat(64)} }
system: { name: alone, lock: my-lock, store: unfenced }
clients:
  - { name: bob, ttl: 20ms, sections: [{ work: [{ increment: { key: x } }] }] } # the slow one
  - { name: carol, ttl: 20ms, sections: [{ work: [{ increment: { key: x } }] }] }
faults:
  # longer than his lease
  - pause: { process: bob, before: bob/1/POINT, for: 30ms }
limits: { healAt: 270ms, probe: false, slack: 150ms }
bounds: { latency: 1ms..2ms, durations: { pause: 1ms..60ms } }
expect: { claim: grant-order, outcome: reproduced }
`;

function corpus(verb: string, ...args: string[]): Promise<Ended> {
  return runHere(['corpus', verb, ...args, '--corpus', plans, '--modules', folder]);
}

beforeAll(() => {
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/fencepost'));
  mkdirSync(plans);
  for (const name of ['my-lock.yaml', 'my-lock.fencepost.mjs']) {
    copyFileSync(join(root, 'fixtures/guide', name), join(folder, name));
  }
});

beforeEach(() => {
  writeFileSync(lock, published);
  writeFileSync(plan, KEPT.replace('POINT', 'write'));
});

test('a plan whose code changed only in its digest keeps its text with a new digest', async () => {
  const { code, out } = await corpus('update');
  expect([code, out]).toEqual([0, `✓ ${plan}: updated, reproduced\n`]);
  const text = readFileSync(plan, 'utf8');
  expect(text).not.toContain('0'.repeat(64));
  const words = ['# Bob’s lease', '# the slow one', '# longer than his lease'];
  for (const comment of words) expect(text).toContain(comment);
  expect((await corpus('check')).out).toContain('1 as expected');
  expect((await corpus('update')).out).toBe('');
  expect(readFileSync(plan, 'utf8')).toBe(text);
});

test('a plan that another process reserves is not written, and update ends with 2', async () => {
  const reservation = join(plans, '.my-lock-alone-grant-order.yaml.new');
  const before = readFileSync(plan, 'utf8');
  writeFileSync(reservation, '');
  const { code, err } = await corpus('update');
  rmSync(reservation);
  expect([code, readFileSync(plan, 'utf8')]).toEqual([2, before]);
  expect(err).toContain(`not updated: locked by ${reservation}`);
  expect((await corpus('update')).code).toBe(0);
});

test('an updated plan names its cause, and a breach by another cause is reported', async () => {
  expect((await corpus('update')).code).toBe(0);
  const text = readFileSync(plan, 'utf8');
  expect(text).toContain('cause: { rule: write-after-read, faults: [ pause before access ] }');
  writeFileSync(plan, text.replace('pause before access', 'crash of a client'));
  const { code, out } = await corpus('check');
  expect(code).toBe(0);
  expect(out).toContain(
    'it breaks grant-order, but by another cause: write-after-read: pause before',
  );
  expect((await corpus('update')).code).toBe(0);
  expect(readFileSync(plan, 'utf8')).toBe(text);
});

test('a plan that needs a longer pause now reproduces, with a note, and is updated', async () => {
  writeFileSync(plan, KEPT.replace('POINT', 'write').replace('for: 30ms', 'for: 22ms'));
  const checked = await corpus('check');
  expect(checked.out).toMatch(
    /✓ .*: reproduced[\s\S]*the code changed; reproduced with a pause of 2[\d.]+ ms instead of/,
  );
  expect(checked.code).toBe(0);
  expect((await corpus('update')).out).toMatch(
    /: updated, reproduced, with a pause of 2[\d.]+ ms instead/,
  );
  expect(readFileSync(plan, 'utf8')).toMatch(
    /# longer than his lease\n {2}- pause: .*for: 2[\d.]+ms/,
  );
  expect((await corpus('check')).out).not.toContain('the code changed');
});

test('an unknown name ends with 5 in every command, with a rename that fixes it', async () => {
  writeFileSync(plan, KEPT.replace('POINT', 'store'));
  const advice = `reproduced with "store" renamed to "write"; to keep it: npx --no-install fencepost corpus update --corpus ${plans} --modules ${folder} --rename store=write`;
  const checked = await corpus('check');
  expect([checked.code, checked.out.includes(advice)]).toEqual([5, true]);
  const replayed = await runHere(['replay', plan, '--modules', folder]);
  expect([replayed.code, replayed.out.includes(advice)]).toEqual([5, true]);
  const run = await runHere(['run', scenario, '--seeds', '3', '--output', join(folder, 'reports')]);
  expect([run.code, run.out.includes(advice)]).toEqual([5, true]);
  const left = await corpus('update');
  expect(left.code).toBe(5);
  expect(readFileSync(plan, 'utf8')).toContain('bob/1/store');
  expect((await corpus('update', '--rename', 'store=write')).code).toBe(0);
  expect(readFileSync(plan, 'utf8')).toContain('bob/1/write');
  expect((await corpus('check')).code).toBe(0);
});

test('a rename that does not reproduce, or of an unknown name, writes nothing', async () => {
  const text = KEPT.replace('POINT', 'store');
  writeFileSync(plan, text);
  expect((await corpus('update', '--rename', 'store=eval')).code).not.toBe(0);
  const nothing = await corpus('update', '--rename', 'stor=write');
  expect(nothing.code).toBe(2);
  expect(nothing.err).toContain('no kept plan names "stor"; did you mean "store"?');
  expect((await corpus('update', '--rename', 'store')).err).toContain('expected two names');
  expect(readFileSync(plan, 'utf8')).toBe(text);
});

test('the lines of --json fit the schema', async () => {
  writeFileSync(plan, KEPT.replace('POINT', 'store'));
  const lines = [await corpus('update', '--json'), await corpus('check', '--json')]
    .concat(await corpus('update', '--json', '--rename', 'store=write'))
    .flatMap(({ out }) => out.trim().split('\n'))
    .map((line) => Object(outputLine.parse(JSON.parse(line))));
  expect(lines.map(({ type, status }) => status ?? type)).toEqual([
    'left',
    'kept-plan',
    'corpus-summary',
    'updated',
  ]);
  expect(lines[1]).toMatchObject({
    outcome: 'diverged',
    nearest: expect.arrayContaining(['write']),
  });
});
