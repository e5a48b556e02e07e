/** Tests `doctor` on this copy of the package, and on copies with one defect. */
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { some } from '../../../properties/runs.ts';
import { outputLine } from '../../report/output-schema.ts';
import { type Ended, root, runCli } from '../command-line.fixture.ts';
import { missingFiles, readManifest } from './environment.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fencepost-doctor-test-'));
  folders.push(folder);
  return folder;
}

function doctor(at: string, args: readonly string[], env: Record<string, string> = {}): Ended {
  return runCli(['doctor', ...args], { cwd: at, cli: join(at, 'dist/cli.js'), env });
}

const shape = z.object({
  exit: z.number(),
  canary: z.string(),
  checks: z.array(z.object({ name: z.string(), status: z.string(), fix: z.string().nullable() })),
});

function parse({ out }: Ended): z.infer<typeof shape> {
  expect(out.trim().split('\n')).toHaveLength(1);
  return shape.parse(outputLine.parse(JSON.parse(out)));
}

/** Returns the names of the checks that found a problem. */
function problemsIn(ended: Ended): readonly string[] {
  return parse(ended).checks.flatMap(({ name, status }) => (status === 'problem' ? [name] : []));
}

describe('in this copy', () => {
  test('all checks pass, and every warning has advice', () => {
    const { code, out, err } = doctor(root, []);
    expect(out).not.toContain('✗');
    expect(code).toBe(0);
    for (const name of ['node', 'package', 'schemas', 'threads', 'sql', 'memory', 'clock']) {
      expect(out).toMatch(new RegExp(`^[✓!] ${name} `, 'm'));
    }
    for (const line of out.match(/^! .*\n.*/gm) ?? []) expect(line).toContain('→ ');
    expect(out.match(/^✓ canary-/gm)).toHaveLength(7);
    expect(err).toContain('canary');
  });

  test('--canary prints one JSON line of its schema, and leaves no files', () => {
    const temporary = temporaryFolder();
    const ended = doctor(root, ['--canary', '--json'], { TMPDIR: temporary });
    expect(ended.code).toBe(0);
    const { exit, canary, checks } = parse(ended);
    expect([exit, canary]).toEqual([0, 'seen']);
    expect(checks.every(({ name, fix }) => name.startsWith('canary-') && fix === null)).toBe(true);
    expect(readdirSync(temporary)).toEqual([]);
  });

  test('a folder that is not writable ends with 2, and the canary does not run', () => {
    const missing = join(temporaryFolder(), 'none');
    const ended = doctor(root, ['--json'], { TMPDIR: missing });
    expect(ended.code).toBe(2);
    expect(parse(ended)).toMatchObject({ exit: 2, canary: 'not run' });
    expect(problemsIn(ended)).toEqual(['temporary']);
  });
});

test('each missing file of the built package is reported', () => {
  const copy = temporaryFolder();
  cpSync(join(root, 'dist'), join(copy, 'dist'), { recursive: true });
  cpSync(join(root, 'package.json'), join(copy, 'package.json'));
  const manifest = readManifest(copy);
  if (manifest === null) throw new Error('there is no package');
  expect(missingFiles(copy, manifest)).toEqual([]);
  const files = readdirSync(join(copy, 'dist'), { recursive: true, encoding: 'utf8' });
  const scripts = files.filter((file) => file.endsWith('.js')).map((file) => join('dist', file));
  expect(scripts).toContain('dist/cli/command-thread.js');
  for (const script of scripts) {
    rmSync(join(copy, script));
    expect(missingFiles(copy, manifest)).toEqual([script]);
    cpSync(join(root, script), join(copy, script));
  }
});

/** Copies the package as separate modules, with one change in one file. */
function brokenCopy(file: string, from: string | RegExp, to: string): string {
  const copy = temporaryFolder();
  cpSync(join(root, 'tools/built/modules'), join(copy, 'dist'), { recursive: true });
  const others = ['report', 'scenario.schema.json', 'output.schema.json'];
  for (const name of [...others.map((other) => `dist/${other}`), 'package.json']) {
    cpSync(join(root, name), join(copy, name), { recursive: true });
  }
  for (const name of ['node_modules', 'fixtures']) symlinkSync(join(root, name), join(copy, name));
  const path = join(copy, 'dist', file);
  const text = readFileSync(path, 'utf8');
  expect(text.replace(from, to), `${file} has no ${from}`).not.toBe(text);
  writeFileSync(path, text.replace(from, to));
  return copy;
}

const BLIND =
  'verdicts: verdicts.map((one) => one.kind === "unknown" ? one : { ...one, kind: "valid" })';

describe('a copy in which', () => {
  const copies = [
    [
      'no claim ever breaks',
      ['examine.js', /(?<=return \{ plan, trace, )verdicts/, BLIND],
      ['alarm', 'sweep', 'shrink', 'report', 'replay', 'fixed'],
    ],
    [
      'a broken claim gives the exit code of success',
      ['search/campaign/exit-codes.js', 'broken: 1,', 'broken: 0,'],
      ['alarm', 'fixed'],
    ],
    [
      'what breaks is not weighed against what should hold',
      ['search/sweep/expected.js', /return expectedOf\(system\)\.holds\.filter.*;/, 'return [];'],
      ['alarm', 'sweep', 'shrink', 'report', 'replay', 'fixed'],
    ],
    ['the shrinker gives up', ['core/shrink/shrink.js', /yield\* settle\(.*;/, ''], ['shrink']],
    [
      'a replay is always reproduced',
      ['search/corpus/replay.js', "if (verdict.kind === 'invalid')", 'if (verdict)'],
      ['fixed'],
    ],
    [
      'fences do not refuse',
      ['systems/store/store.js', 'return token < last.highest;', 'return false;'],
      ['cure', 'fixed'],
    ],
  ] as const;

  test.each(some(copies))('%s fails with 3', (_, [file, from, to], stages) => {
    const ended = doctor(brokenCopy(file, from, to), ['--canary', '--json']);
    expect(problemsIn(ended)).toEqual(stages.map((step) => `canary-${step}`));
    expect(ended.code).toBe(3);
    expect(parse(ended).canary).toBe('not seen');
  });

  test('a file is missing fails with 2', () => {
    const copy = brokenCopy('search/sweep/worker.js', /^/, ' ');
    rmSync(join(copy, 'dist/search/sweep/worker.js'));
    const ended = doctor(copy, ['--json']);
    expect(ended.code).toBe(2);
    expect(problemsIn(ended)).toEqual(['package']);
  });
});
