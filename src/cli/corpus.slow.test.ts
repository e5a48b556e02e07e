/** Tests the corpus commands: one plan per kind, and no change without a request. */
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
import { outputLine } from '../report/output-schema.ts';
import { type Ended, root, runHere } from './command-line.fixture.ts';

const kept = join(root, 'fixtures/plans');
const zombie = join(kept, 'zombie-writer-unfenced-grant-order.yaml');
const guard = join(kept, 'zombie-writer-fenced-grant-order.yaml');
const folder = mkdtempSync(join(tmpdir(), 'fencepost-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function corpus(verb: string, at: string, ...args: string[]): Promise<Ended> {
  return runHere(['corpus', verb, ...args, '--corpus', at]);
}

/** Returns the lines of `--json`, after a check against the shipped schema. */
function jsonOf({ out }: Ended): readonly Record<string, unknown>[] {
  const lines = out.trim().split('\n');
  return lines.map((line) => Object(outputLine.parse(JSON.parse(line))));
}

let folders = 0;
function newFolder(...plans: readonly string[]): string {
  folders += 1;
  const made = join(folder, `corpus-${folders}`);
  mkdirSync(made);
  for (const plan of plans) copyFileSync(plan, join(made, `kept-${readdirSync(made).length}.yaml`));
  return made;
}

/** Writes a plan file that differs from the kept one. Every change must apply. */
function edited(name: string, ...changes: readonly (readonly [string, string])[]): string {
  let text = readFileSync(zombie, 'utf8');
  for (const [from, to] of changes) {
    expect(text).toContain(from);
    text = text.replace(from, to);
  }
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

test('plans with CRLF line ends are kept, checked and updated like others', async () => {
  const crlf = join(folder, 'crlf.yaml');
  writeFileSync(crlf, readFileSync(zombie, 'utf8').replaceAll('\n', '\r\n'));
  const at = newFolder();
  expect((await corpus('add', at, crlf)).out).toContain('reproduced, added as');
  const { code, out } = await corpus('check', at);
  expect([code, out]).toEqual([0, expect.stringContaining('1 reproduced; 1 as expected')]);
  expect((await corpus('ls', at)).out).toContain('grant-order reproduced');
  expect((await corpus('add', at, zombie)).out).toContain('already kept');
  expect((await corpus('update', at)).code).toBe(0);
  expect((await corpus('prune', at)).out).toBe('');
});

describe('a plan', () => {
  test('is kept under the name of its failure, unchanged', async () => {
    const at = newFolder();
    const { code, out } = await corpus('add', at, zombie);
    expect([code, readdirSync(at)]).toEqual([0, ['zombie-writer-unfenced-grant-order.yaml']]);
    expect(out).toContain('reproduced, added as');
    const name = join(at, 'zombie-writer-unfenced-grant-order.yaml');
    expect(readFileSync(name, 'utf8')).toBe(readFileSync(zombie, 'utf8'));
  });

  test('of a kept kind is not a mistake, and the kept one is named', async () => {
    const at = newFolder(zombie);
    const longer = edited('longer.yaml', ['for: 20ms', 'for: 21.7ms'], ['bob/3', 'bob/3']);
    const { code, out } = await corpus('add', at, longer);
    expect(code).toBe(0);
    expect(out).toContain(`already kept: ${join(at, 'kept-0.yaml')}`);
    expect(readdirSync(at)).toEqual(['kept-0.yaml']);
  });

  test('that is simpler replaces one of its kind only with --replace', async () => {
    const longer = edited('less-simple.yaml', ['for: 20ms', 'for: 21.7ms']);
    const at = newFolder(longer);
    expect(await corpus('add', at, zombie)).toMatchObject({
      code: 0,
      out: expect.stringContaining('--replace'),
    });
    expect(readFileSync(join(at, 'kept-0.yaml'))).toEqual(readFileSync(longer));
    expect((await corpus('add', at, zombie, '--replace')).code).toBe(0);
    expect(readdirSync(at)).toEqual(['kept-0.yaml']);
    expect(readFileSync(join(at, 'kept-0.yaml'))).toEqual(readFileSync(zombie));
    expect((await corpus('add', at, longer, '--replace')).out).toContain('already kept');
  });

  test('of another kind with the same name gets a number', async () => {
    const at = newFolder();
    const later = edited('later.yaml', ['before: bob/3/write', 'after: bob/3/checked']);
    expect((await corpus('add', at, zombie)).code).toBe(0);
    expect((await corpus('add', at, later)).code).toBe(0);
    expect(readdirSync(at)).toEqual([
      'zombie-writer-unfenced-grant-order-2.yaml',
      'zombie-writer-unfenced-grant-order.yaml',
    ]);
  });

  test('that breaks nothing is not kept', async () => {
    const at = newFolder();
    const fixed = edited('fixed.yaml', ['store: unfenced', 'store: fenced']);
    expect((await corpus('add', at, fixed)).code).toBe(1);
    const lost = edited('lost.yaml', ['bob/3/write', 'bob/3/wrote']);
    expect((await corpus('add', at, lost)).code).toBe(5);
    expect(readdirSync(at)).toEqual([]);
  });

  test('without expectations is kept for the first claim that it breaks', async () => {
    const at = newFolder();
    const [said = ''] = /^expect:\n(?: .*\n)*/m.exec(readFileSync(zombie, 'utf8')) ?? [];
    const mute = edited('mute.yaml', [said, '']);
    expect((await corpus('add', at, mute)).code).toBe(0);
    expect((await corpus('check', at)).out).toMatch(/reproduced \([a-z-]+\)/);
  });
});

describe('a check', () => {
  test('distinguishes all outcomes, and continues after a damaged plan', async () => {
    const at = newFolder(
      zombie,
      guard,
      edited('now-fixed.yaml', ['store: unfenced', 'store: fenced']),
      edited('now-inert.yaml', ['for: 20ms', 'for: 1ms']),
      edited('now-diverged.yaml', ['bob/3/write', 'bob/3/wrote']),
      edited('damaged.yaml', ['pause:', 'pausee:']),
    );
    const { code, out, err } = await corpus('check', at);
    expect(code).toBe(2);
    expect(err).toMatch(/kept-5\.yaml:\d+:\d+ faults\[0\]\.pausee: .*did you mean "pause"/);
    expect(out).toMatch(/✓ \S+kept-0\.yaml: reproduced \(/);
    expect(out).toMatch(/✓ \S+kept-1\.yaml: fixed, kept as a guard/);
    expect(out).toMatch(/✗ \S+kept-2\.yaml: fixed, expected reproduced/);
    expect(out).toMatch(/to keep it as a guard: .* corpus accept \S+kept-2\.yaml --corpus \S+/);
    expect(out).toMatch(/✗ \S+kept-3\.yaml: inert, expected reproduced/);
    expect(out).toMatch(/✗ \S+kept-4\.yaml: diverged, .*\n.*no match for bob\/3\/wrote/);
    expect(out).toContain('6 kept plans, 1 reproduced, 2 fixed, 1 inert, 1 diverged, 1 damaged');
    const lines = jsonOf(await corpus('check', at, '--json'));
    expect(lines.map(({ outcome }) => outcome)).toEqual([
      'reproduced',
      'fixed',
      'fixed',
      'inert',
      'diverged',
      'damaged',
      undefined,
    ]);
    expect(lines.at(-1)).toMatchObject({ exit: 2, plans: 6, asExpected: 2 });
  });

  test('ends with 0, 1 or 5 by the worst outcome', async () => {
    expect((await corpus('check', newFolder(zombie, guard))).code).toBe(0);
    expect(
      (await corpus('check', newFolder(edited('i.yaml', ['for: 20ms', 'for: 1ms'])))).code,
    ).toBe(1);
    const lost = edited('d.yaml', ['bob/3/write', 'bob/3/wrote']);
    expect((await corpus('check', newFolder(lost))).code).toBe(5);
    expect((await corpus('check', join(folder, 'nowhere'))).err).toContain('no such folder');
  });

  test('passes on the plans of the fixtures, none of which is superfluous', async () => {
    expect((await corpus('check', kept)).code).toBe(0);
    expect(await corpus('prune', kept)).toMatchObject({ code: 0, out: '' });
  });
});

test('a list shows the claim and the kind of each plan', async () => {
  const at = newFolder(zombie);
  expect((await corpus('ls', at)).out.split('\n')).toEqual([
    expect.stringMatching(/kept-0\.yaml: grant-order reproduced \([0-9a-f]{8}\)$/),
    '    lock-service/unfenced; A: write; B: write; pause A before A/1/write',
    '    earlier grant, pause, later grant, later write, stale write',
    '',
  ]);
  const [, ...kind] = (await corpus('ls', at)).out.trimEnd().split('\n');
  expect(readFileSync(join(root, 'docs/corpus.md'), 'utf8')).toContain(kind.join('\n'));
  expect(jsonOf(await corpus('ls', at, '--json'))[0]).toMatchObject({
    type: 'kept-plan',
    claim: 'grant-order',
    scenario: 'zombie-writer',
    system: 'unfenced',
  });
});

test('superfluous plans are listed, and deleted only on request', async () => {
  const longer = edited('more.yaml', ['for: 20ms', 'for: 21.7ms']);
  const inert = edited('inert.yaml', ['for: 20ms', 'for: 1ms']);
  const at = newFolder(longer, zombie, inert, guard);
  const { code, out, err } = await corpus('prune', at);
  expect(code).toBe(0);
  expect(out).toMatch(/kept-0\.yaml: \S+kept-1\.yaml shows the same failure/);
  expect(out).toMatch(/kept-2\.yaml: the hazard no longer arises/);
  expect(err).toContain('2 of 4 plans superfluous; delete them with --yes');
  expect(readdirSync(at)).toHaveLength(4);
  const lines = jsonOf(await corpus('prune', at, '--yes', '--json'));
  expect(lines.map(({ why, isDeleted }) => [why, isDeleted])).toEqual([
    ['duplicate', true],
    ['inert', true],
  ]);
  expect(readdirSync(at)).toEqual(['kept-1.yaml', 'kept-3.yaml']);
});

test('a run continues after a damaged plan, reports its place, and ends with 2', async () => {
  const at = newFolder(zombie, edited('odd.yaml', ['pause:', 'pausee:']));
  const scenario = join(root, 'fixtures/zombie-writer.yaml');
  const output = ['--output', join(folder, 'out'), '--seeds', '30', '--workers', '0'];
  const { code, out, err } = await runHere(['run', scenario, '--corpus', at, ...output]);
  expect(code).toBe(2);
  expect(err).toMatch(/kept-1\.yaml:\d+:\d+ faults\[0\]\.pausee/);
  expect(err).toContain('corpus: 2 plans replayed, 1 as expected');
  expect(out).toContain('broke as expected: unfenced: grant-order on 3');
});

test('a run does not read the plans of other scenarios, damaged or not', async () => {
  const other = edited(
    'other.yaml',
    ['scenario: zombie-writer', 'scenario: another'],
    ['pause:', 'pausee:'],
  );
  const quoted = edited('quoted.yaml', ['scenario: zombie-writer', 'scenario: "zombie-writer"']);
  const at = newFolder(zombie, other, quoted);
  const args = ['--seed', '3', '--corpus', at, '--output', join(folder, 'others')];
  const { code, err } = await runHere(['run', 'fixtures/zombie-writer.yaml', ...args]);
  expect(code).toBe(0);
  expect(err).toContain('corpus: 2 plans replayed, 2 as expected');
  expect(err).not.toContain('pausee');
});
