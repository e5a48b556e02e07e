/**
 * Tests the findings in npm's unmodified redlock, with the scenarios in `fixtures/modules`; without
 * faults it holds.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type Ended, root, runHere } from './command-line.fixture.ts';

const output = mkdtempSync(join(tmpdir(), 'fencepost-redlock-'));
afterAll(() => rmSync(output, { recursive: true, force: true }));

const run = (name: string, ...more: readonly string[]): Promise<Ended> => {
  const file = `fixtures/modules/npm-redlock${name}.yaml`;
  return runHere(['run', file, '--output', output, ...more]);
};

describe('npm redlock 5', { timeout: 120_000 }, () => {
  test('hands out a lock whose validity is over if a reply is late', async () => {
    const { code, out } = await run('-late-reply', '--seeds', '20');
    expect(out).toMatch(/\w+ and \w+ work under the lock at once/);
    expect(out).toMatch(/\d+ ms after its own lock\s+had run out/);
    expect(out).toContain('2 of 2 expectations met');
    expect(code).toBe(0);
  });

  test('starves three clients on three nodes without a fault', async () => {
    const { code, out } = await run('-starvation', '--seeds', '20');
    expect(out).toContain('3 clients race for a free lock, and none gets it');
    expect(out).not.toContain('faults, in seeds');
    expect(code).toBe(0);
  });

  test('does not abort `using` while a renewal hangs', async () => {
    const { code, out } = await run('-using', '--seeds', '60');
    expect(out).toMatch(/\w+ and \w+ work under the lock at once/);
    expect(code).toBe(0);
  });

  test('takes turns without a fault, and gives the same events each time', async () => {
    const { code, out, err } = await run('', '--seeds', '12', '--check-determinism');
    expect(err).toContain('24 runs repeated, all events equal');
    expect(out).toContain('2 of 2 expectations met');
    expect(out).not.toContain('unlisted');
    expect(code).toBe(0);
  });

  test.each([
    ['late-reply-trusts-one-holder', 'delay'],
    ['starvation-defaults-somebody-wins', null],
    ['using-using-one-holder', 'partition'],
  ])('%s is kept, and replays', async (name, fault) => {
    const plan = `fixtures/modules/plans/npm-redlock-${name}.yaml`;
    expect((await runHere(['replay', plan])).out).toContain('reproduced');
    const text = readFileSync(join(root, plan), 'utf8');
    const kinds = [...text.matchAll(/^ {2}- (pause|clock|crash|delay|partition|drop): /gm)];
    expect([...new Set(kinds.map(([, kind]) => kind))]).toEqual(fault === null ? [] : [fault]);
  });
});
