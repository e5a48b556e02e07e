/**
 * Tests the shipped files: a file takes precedence over a name, a name finds files of the package,
 * kept plans stay in the user's project, and a scenario explains each claim under `may`.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix, resolve, win32 } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  fileMeant,
  packageRoot,
  plansFolderOf,
  plansFoldersOf,
  shippedScenarios,
  slashed,
} from './shipped.ts';
import { isPlanFile, loadPlan, loadScenarios } from './sources.ts';

const before = process.cwd();
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fencepost-'));
  vi.spyOn(process, 'cwd').mockReturnValue(folder);
});

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

test('a path on Windows gets slashes; elsewhere, a backslash in a name stays', () => {
  const typed = win32.join('locks', 'my-lock.yaml');
  expect(typed).toBe('locks\\my-lock.yaml');
  expect(slashed(typed, win32.sep)).toBe('locks/my-lock.yaml');
  expect(slashed(win32.relative('C:\\home', 'C:\\home\\plans\\a.yaml'), win32.sep)).toBe(
    'plans/a.yaml',
  );
  expect(slashed(typed, posix.sep)).toBe(typed);
});

describe('a name', () => {
  test('is that of a scenario or a kept plan of the package', async () => {
    const file = join(packageRoot(), 'fixtures/six-steps.yaml');
    expect(fileMeant('six-steps')).toBe(file);
    const [loaded] = await loadScenarios(['six-steps'], { modules: null });
    expect(loaded).toMatchObject({ file, scenario: { name: 'six-steps' } });
    expect(isPlanFile('six-steps')).toBe(false);
    expect(isPlanFile('six-steps-unfenced-grant-order')).toBe(true);
    const kept = await loadPlan('six-steps-unfenced-grant-order', { modules: null });
    expect(kept.plan.scenario).toBe('six-steps');
  });

  test('is resolved to a readable path inside the project itself', () => {
    vi.spyOn(process, 'cwd').mockReturnValue(packageRoot());
    expect(fileMeant('six-steps')).toBe('fixtures/six-steps.yaml');
  });

  test('that is unknown is refused with suggestions', async () => {
    const refusal = loadScenarios(['six-step', 'zombie-wirter'], { modules: null });
    await expect(refusal).rejects.toThrow(/^six-step:1:1: no such file.*"six-steps"\?$/m);
    await expect(refusal).rejects.toThrow(/^zombie-wirter:1:1: .*"zombie-writer"\?$/m);
    await expect(loadPlan('nothing-like-it', { modules: null })).rejects.toThrow(
      'nothing-like-it:1:1: no such file, and no scenario or plan of that name',
    );
  });

  test('with a slash or an extension is a path, and so is the name of an existing file', () => {
    for (const path of ['./six-steps', 'six-steps.yaml', '-', '../six-steps']) {
      expect(fileMeant(path)).toBe(path);
    }
    const name = `own-${process.pid}`;
    expect(() => fileMeant(name)).toThrow(`${name}:1:1: no such file`);
    onTestFinished(() => rmSync(join(before, name)));
    writeFileSync(join(before, name), '');
    expect(fileMeant(name)).toBe(name);
  });
});

test('plans are kept beside a project’s scenario, and in ./plans for one of a package', () => {
  expect(plansFolderOf('locks/mine.yaml')).toBe('locks/plans');
  const installed = 'node_modules/fencepost/fixtures/six-steps.yaml';
  expect(plansFolderOf(installed)).toBe('plans');
  expect(plansFoldersOf(installed)).toEqual(['node_modules/fencepost/fixtures/plans', 'plans']);
  expect(plansFoldersOf('locks/mine.yaml')).toEqual(['locks/plans']);
  const linked = join(packageRoot(), 'fixtures/six-steps.yaml');
  expect(plansFolderOf(linked)).toBe('plans');
  vi.spyOn(process, 'cwd').mockReturnValue(packageRoot());
  expect(resolve(plansFolderOf(linked))).toBe(join(packageRoot(), 'fixtures/plans'));
});

test('every listed scenario can be run by its name, and has a description', async () => {
  const listed = shippedScenarios();
  expect(listed.length).toBeGreaterThan(50);
  for (const { name, about } of listed) {
    expect(fileMeant(name)).toMatch(/\.yaml$/);
    expect(about.length, name).toBeGreaterThan(40);
    expect(about, name).not.toMatch(/[#\n]/);
  }
});

describe('a claim under `may`', () => {
  const fixtures = join(packageRoot(), 'fixtures');
  const files = readdirSync(fixtures, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.yaml') && !/^(plans|frozen|histories)\//.test(file))
    .filter((file) => /^ +may:/m.test(readFileSync(join(fixtures, file), 'utf8')));

  test('is in many scenarios, including those that `init` writes', () => {
    expect(files.length).toBeGreaterThan(40);
    expect(files.filter((file) => file.startsWith('starter/'))).toHaveLength(3);
  });

  test.each(files)('is in %s with a comment on why it is not a separate corruption', (file) => {
    expect(unexplainedIn(readFileSync(join(fixtures, file), 'utf8'))).toEqual([]);
  });

  test('without such a comment is reported', () => {
    const said = '# one, two: the same failure, seen twice.\n    may: [one, two]\n';
    expect(unexplainedIn(`    ${said}`)).toEqual([]);
    expect(unexplainedIn(`    ${said}    may: [two, three]`)).toEqual(['three']);
    expect(unexplainedIn('    # one:\n    may:\n      - one')).toEqual(['one']);
  });
});

/** Returns claims under `may` without a comment that gives a reason: `# claim, claim: why`. */
function unexplainedIn(text: string): readonly string[] {
  const explained = new Set<string>();
  const parts = text.split(/^ +may:\s*(\[[^\]]*\]|(?:\s+- \S+)+)/m);
  return parts.flatMap((part, at) => {
    const isList = at % 2 === 1;
    if (isList) return (part.match(/[a-z-]*[a-z]/g) ?? []).filter((claim) => !explained.has(claim));
    for (const [, claims = ''] of part.matchAll(/^ +# ([a-z-]+(?:, [a-z-]+)*): \S/gm)) {
      for (const claim of claims.split(', ')) explained.add(claim);
    }
    return [];
  });
}
