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
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { renderPlan } from '../../core/plan/plan-text.ts';
import { examineSeed } from '../../harness.ts';
import { expand } from '../../scenario/expand.ts';
import { replay } from '../../search/corpus/replay.ts';
import { renderProblem } from '../../text/problem.ts';
import {
  loadPlanFile,
  loadScenarioFile,
  readPlanSource,
  type ScenarioFileRead,
} from './load-files.ts';
import { moduleVersion } from './module-digest.ts';

const fixtures = fileURLToPath(new URL('../../../fixtures/modules/', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'fencepost-modules-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Loaded = Extract<ScenarioFileRead, { readonly kind: 'scenario' }>;

async function spinLock(): Promise<Loaded> {
  const read = await loadScenarioFile(`${fixtures}spin-lock.yaml`);
  if (read.kind === 'problems') throw new Error(read.problems.map(renderProblem).join('\n'));
  return read;
}

const SYSTEMS = 'systems: { own: { lock: lock-service, store: fenced } }';

/** Returns the problems of a scenario that uses `path` in line 2, or '' if there are none. */
async function problemWith(path: string): Promise<string> {
  const file = join(folder, 'scenario.yaml');
  writeFileSync(file, `name: own\nuse: ${JSON.stringify(path)}\n${SYSTEMS}\n`);
  const read = await loadScenarioFile(file);
  return read.kind === 'problems' ? read.problems.map(renderProblem).join('\n') : '';
}

/** Returns the same for a module with this text beside the scenario. */
function problemIn(name: string, text: string): Promise<string> {
  writeFileSync(join(folder, name), text);
  return problemWith(`./${name}`);
}

const at = `${join(folder, 'scenario.yaml')}:2:6 use: `;

describe('a scenario that uses a module', () => {
  test('has its locks beside those of fencepost', async () => {
    const { catalogue, scenario } = await spinLock();
    expect([...catalogue.locks.keys()]).toContain('spin-lock');
    expect([...catalogue.locks.keys()]).toContain('lock-service');
    expect(scenario.use).toEqual({
      './spin-lock.mjs': expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    });
    expect(scenario.systems[0]?.servers).toEqual(['lock']);
  });

  test('finds the bug of one system, and holds for its cure', async () => {
    const { catalogue, scenario } = await spinLock();
    const broken = (system: string): number =>
      Array.from({ length: 50 }, (_, seed) =>
        examineSeed(scenario, system, seed, ['owner-only-release'], catalogue),
      ).filter(({ verdicts }) => verdicts[0]?.kind === 'invalid').length;
    expect(broken('naive')).toBeGreaterThan(0);
    expect(broken('cured')).toBe(0);
  });

  test('gets suggestions for unknown names from its module, too', async () => {
    const file = join(folder, 'unknown.yaml');
    copyFileSync(`${fixtures}spin-lock.mjs`, join(folder, 'spin-lock.mjs'));
    const systems = 'systems: { own: { lock: spin-lok, store: fenced } }';
    writeFileSync(file, `name: own\nuse: ./spin-lock.mjs\n${systems}\n`);
    const read = await loadScenarioFile(file);
    const [problem] = read.kind === 'problems' ? read.problems : [];
    expect(problem?.what).toBe('unknown lock "spin-lok"; did you mean "spin-lock"?');
  });
});

describe('a plan', () => {
  test('with an unknown option is refused at the place of the option', async () => {
    const { scenario } = await spinLock();
    const file = join(folder, 'plan.yaml');
    copyFileSync(`${fixtures}spin-lock.mjs`, join(folder, 'spin-lock.mjs'));
    const plan = expand(scenario, 'cured', 1);
    const problemsIn = async (text: string): Promise<readonly string[]> => {
      writeFileSync(file, text);
      const read = await loadPlanFile(file);
      return read.kind === 'problems' ? read.problems.map(renderProblem) : [];
    };
    expect(await problemsIn(renderPlan(plan))).toEqual([]);
    const system = { ...plan.system, options: { relaese: 'own' } };
    const [problem, ...others] = await problemsIn(renderPlan({ ...plan, system }));
    expect(others).toEqual([]);
    expect(problem?.slice(file.length)).toMatch(
      /^:[2-9]:[1-9]\d* system\.options\.relaese: spin-lock has no option "relaese"; did you mean "release"\?$/,
    );
  });
});

describe('a path', () => {
  test.each([
    ['../spin-lock.mjs', 'leads out of the folder'],
    ['./a/../../spin-lock.mjs', 'leads out of the folder'],
    ['/tmp/spin-lock.mjs', 'is an absolute path'],
    ['C:/spin-lock.mjs', 'is an absolute path'],
    ['file:///tmp/spin-lock.mjs', 'is a URL'],
    ['https://example.com/lock.mjs', 'is a URL'],
    ['data:text/javascript,1', 'is a URL'],
    ['node:fs', 'is a URL'],
    ['fencepost', 'is the name of a package'],
    ['.\\spin-lock.mjs', 'has a backslash'],
    ['./', 'is a folder'],
  ])('%s is refused at its place', async (path, why) => {
    const problem = await problemWith(path);
    expect(problem).toBe(
      `${at}${JSON.stringify(path)} ${why}; expected a file below this folder, such as ./my-lock.mjs`,
    );
  });

  test('that is a link out of the folder is refused', async () => {
    mkdirSync(join(folder, 'inside'), { recursive: true });
    symlinkSync(`${fixtures}spin-lock.mjs`, join(folder, 'inside', 'link.mjs'));
    expect(await problemWith('./inside/link.mjs')).toContain('is a link that leads out of');
    symlinkSync(fixtures, join(folder, 'linked'));
    expect(await problemWith('./linked/spin-lock.mjs')).toContain('is a link that leads out of');
  });

  test('that is named twice is refused', async () => {
    const file = join(folder, 'twice.yaml');
    writeFileSync(file, `name: own\nuse: [./a.mjs, ./a.mjs]\n${SYSTEMS}\n`);
    const read = await loadScenarioFile(file);
    const problems = read.kind === 'problems' ? read.problems.map(renderProblem) : [];
    expect(problems).toEqual([`${file}:2:16 use[1]: "./a.mjs" is listed twice`]);
  });
});

describe('a module', () => {
  test('that is missing is reported where it is used', async () => {
    expect(await problemWith('./missing.mjs')).toBe(`${at}./missing.mjs: there is no such file`);
  });

  test('that throws is reported with its error', async () => {
    const text = "const a = 1;\nthrow new Error('not today');\nexport default a;\n";
    expect(await problemIn('throws.mjs', text)).toContain(
      `${at}./throws.mjs cannot be loaded: not today`,
    );
  });

  test.each([
    ['throws', 'further.mjs', 'const a = null;\na.b();\n', "reading 'b') (at further.mjs:2:3)"],
    ['has an error', 'further.mjs', '\nconst = 1;\n', 'Unexpected token (at further.mjs:2:7)'],
    ['is CommonJS and throws', 'further.cjs', '\nnull.b;\n', "reading 'b') (at further.cjs:2:6)"],
    ['is CommonJS with an error', 'further.cjs', '\nconst = 1;\n', "token '=' (at further.cjs:2)"],
    [
      'lacks a name',
      'further.mjs',
      "import { b } from './own.mjs';",
      "named 'b' (at further.mjs:1:10)",
    ],
    ['is not JSON', 'further.json', '{,', 'further.json: Expected'],
  ])('that imports one that %s is reported with file and line', async (_, name, text, message) => {
    writeFileSync(join(folder, name), text);
    writeFileSync(join(folder, 'own.mjs'), '');
    writeFileSync(join(folder, 'second.mjs'), `import './${name}';\n`);
    expect(await problemIn('first.mjs', "import './second.mjs';\n")).toContain(message);
  });

  test('that requires a missing module is reported in one line, with the place', async () => {
    const text = "require('nowhere/lib/x');\n";
    expect(await problemIn('requires.cjs', text)).toBe(
      `${at}./requires.cjs cannot be loaded: Cannot find module 'nowhere/lib/x' (at line 1, column 1)`,
    );
  });

  test.each([
    ['nothing.mjs', 'export const lock = 1;\n', 'has no default export'],
    ['plain.mjs', 'export default { locks: {} };\n', 'has a default export other than'],
    ['null.mjs', 'export default null;\n', 'has a default export other than'],
  ])('%s that exports something else is refused', async (name, text, why) => {
    expect(await problemIn(name, text)).toContain(`${at}./${name} ${why}`);
  });

  test('with a wrong definition is refused with the field', async () => {
    const text = [
      "import { defineSystem } from 'fencepost';",
      "export default defineSystem({ locks: { mine: { about: 'mine' } } });",
    ].join('\n');
    expect(await problemIn('no-build.mjs', text)).toContain(
      `${at}./no-build.mjs cannot be loaded: locks.mine has no \`section\`, and no \`build\``,
    );
  });

  test('that reuses a name of fencepost is refused', async () => {
    const text = [
      "import { defineSystem } from 'fencepost';",
      "const build = () => () => ({ *acquire() { return 'given up'; }, *release() {} });",
      "export default defineSystem({ locks: { redis: { about: 'mine', build } } });",
    ].join('\n');
    expect(await problemIn('clash.mjs', text)).toContain(
      'the lock "redis" has the name of a built-in lock; rename it',
    );
  });
});

describe('a plan that uses a module', () => {
  test('finds the module beside itself, or above its folder `plans`', async () => {
    const { scenario } = await spinLock();
    const text = renderPlan(expand(scenario, 'naive', 6));
    const copyFolder = mkdtempSync(join(folder, 'plan-'));
    copyFileSync(`${fixtures}spin-lock.mjs`, join(copyFolder, 'spin-lock.mjs'));
    mkdirSync(join(copyFolder, 'plans'));
    for (const file of [join(copyFolder, 'plan.yaml'), join(copyFolder, 'plans', 'plan.yaml')]) {
      writeFileSync(file, text);
      const read = await loadPlanFile(file);
      if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
      expect(read.plan.use).toEqual(scenario.use);
      expect(read.changedModules).toEqual([]);
      const { outcome } = await replay(read.plan, 'owner-only-release', read.catalogue);
      expect(outcome).toBe('reproduced');
    }
  });

  test('reports that the module has another version', async () => {
    const { scenario } = await spinLock();
    const copyFolder = mkdtempSync(join(folder, 'changed-'));
    const changed = { './spin-lock.mjs': `sha256:${'0'.repeat(64)}` };
    copyFileSync(`${fixtures}spin-lock.mjs`, join(copyFolder, 'spin-lock.mjs'));
    const file = join(copyFolder, 'plan.yaml');
    writeFileSync(file, renderPlan({ ...expand(scenario, 'naive', 6), use: changed }));
    const read = await loadPlanFile(file, copyFolder);
    expect(read).toMatchObject({ kind: 'plan', changedModules: ['./spin-lock.mjs'] });
  });

  describe('with an effect on load', () => {
    const copyFolder = mkdtempSync(join(folder, 'stranger-'));
    const hasRun = (): boolean => {
      const has = Reflect.has(globalThis, 'ranForTest');
      Reflect.deleteProperty(globalThis, 'ranForTest');
      return has;
    };
    const file = join(copyFolder, 'plan.yaml');
    const problemsIn = async (text: string, ...from: readonly string[]): Promise<string> => {
      writeFileSync(file, text);
      const read = await loadPlanFile(file, ...from);
      return read.kind === 'problems' ? read.problems.map(renderProblem).join('\n') : 'a plan';
    };
    const planWith = async (digest: string): Promise<string> => {
      const { scenario } = await spinLock();
      const use = { './spin-lock.mjs': digest };
      return renderPlan({ ...expand(scenario, 'naive', 6), use });
    };
    const OTHER = `sha256:${'0'.repeat(64)}`;

    beforeAll(() => {
      const text = readFileSync(`${fixtures}spin-lock.mjs`, 'utf8');
      writeFileSync(
        join(copyFolder, 'spin-lock.mjs'),
        `globalThis.ranForTest = () => {};\n${text}`,
      );
    });

    afterEach(hasRun);

    test('is not run if it differs from that of the plan', async () => {
      expect(await problemsIn(await planWith(OTHER))).toBe(
        `${file}:4:3 use["./spin-lock.mjs"]: ./spin-lock.mjs differs from the version that the plan was made with, so it was not run; name its folder to run it`,
      );
      expect(hasRun()).toBe(false);
    });

    test.each([
      ['that is not a plan', (text: string) => text.replace('limits:', 'limit:')],
      ['that is not YAML', (text: string) => `${text}\n\t- [`],
    ])('is not run for a text %s, even with its folder', async (_, spoiled) => {
      const digest = moduleVersion(join(copyFolder, 'spin-lock.mjs'));
      expect(await problemsIn(spoiled(await planWith(digest)), copyFolder)).toContain(`${file}:`);
      expect(hasRun()).toBe(false);
    });

    test('is run if it equals that of the plan, or if its folder is named', async () => {
      const digest = moduleVersion(join(copyFolder, 'spin-lock.mjs'));
      expect(await problemsIn(await planWith(digest))).toBe('a plan');
      expect(hasRun()).toBe(true);
      writeFileSync(
        join(copyFolder, 'spin-lock.mjs'),
        `${readFileSync(join(copyFolder, 'spin-lock.mjs'), 'utf8')}// other\n`,
      );
      expect(await problemsIn(await planWith(digest), copyFolder)).toBe('a plan');
      expect(hasRun()).toBe(true);
    });
  });

  test('gets a hint if the module is missing, and only then', async () => {
    const { scenario } = await spinLock();
    const copyFolder = mkdtempSync(join(folder, 'hint-'));
    const source = { file: 'plan.yaml', text: renderPlan(expand(scenario, 'naive', 6)) };
    const problemsIn = async (modules: string): Promise<string> => {
      const read = await readPlanSource(
        source,
        { kind: 'folder', folder: modules },
        {
          ifMissing: '; look',
        },
      );
      return read.kind === 'problems' ? read.problems.map(({ what }) => what).join('\n') : '';
    };
    expect(await problemsIn(copyFolder)).toBe('./spin-lock.mjs: there is no such file; look');
    writeFileSync(join(copyFolder, 'spin-lock.mjs'), 'export default null;\n');
    expect(await problemsIn(copyFolder)).toMatch(/has a default export other than [^;]*$/);
    expect(await problemsIn(fixtures)).toBe('');
  });

  test('is refused at the place that names the missing module', async () => {
    const { scenario } = await spinLock();
    const copyFolder = mkdtempSync(join(folder, 'lost-'));
    const file = join(copyFolder, 'plan.yaml');
    writeFileSync(file, renderPlan(expand(scenario, 'naive', 6)));
    const read = await loadPlanFile(file);
    const problems = read.kind === 'problems' ? read.problems.map(renderProblem) : [];
    expect(problems).toEqual([
      `${file}:4:3 use["./spin-lock.mjs"]: ./spin-lock.mjs: there is no such file`,
    ]);
  });
});
