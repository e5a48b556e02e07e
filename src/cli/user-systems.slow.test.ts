/**
 * Tests user-defined systems in modules, with the built package in `dist`: every command accepts
 * them, worker threads load them, and their mistakes are explained.
 */
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ended, root, runCli, runHere } from './command-line.fixture.ts';

let folder = '';

beforeAll(() => {
  // Inside the package, so that modules can import `fencepost`.
  folder = mkdtempSync(join(root, 'reports/own-systems-'));
  cpSync(join(root, 'fixtures/modules'), join(folder, 'own'), { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fencepost(...args: readonly string[]): Ended {
  return runCli(args, { cwd: folder });
}

/** Runs in this process, for tests that do not need a process. */
function here(...args: readonly string[]): Promise<Ended> {
  return runHere(args, { cwd: folder });
}

function lastJson(text: string): Record<string, unknown> {
  return JSON.parse(text.trim().split('\n').at(-1) ?? '');
}

/** Copies the lock and its kept plans, so that a test can change them. */
function copyOfLock(name: string): string {
  cpSync(join(root, 'fixtures/modules'), join(folder, name), { recursive: true });
  return name;
}

const kept = 'plans/spin-lock-naive-owner-only-release.yaml';

test('a fixture with a module meets its expectations, with any number of worker threads', () => {
  const of = (workers: string): unknown => {
    const run = ['run', 'own/spin-lock.yaml', '--seeds', '200', '--workers', workers, '--json'];
    const { code, out, err } = fencepost(...run, '--output', join(folder, 'reports'));
    expect(err).toContain('corpus: 2 plans replayed, 2 as expected');
    expect(code).toBe(0);
    return { ...lastJson(out), seedsPerSecond: 0, eventsPerSecond: 0 };
  };
  expect(of('2')).toEqual(of('0'));
});

test('two requests of one process are two holders; so are two jobs of one request', async () => {
  const { code, out } = await here('run', 'own/same-process.yaml', '--seeds', '30');
  expect(out).toContain('5 of 5 expectations met');
  expect(out).toMatch(/`(\w+)\/\d` entered `db` while `\1\/\d` held it/);
  expect(out).toMatch(/another guard of `(\w+\/\d)` entered `db` while `\1` held it/);
  expect(code).toBe(0);
}, 60_000);

test('a server with timers, queried by its store, meets its expectations', () => {
  const run = ['run', 'own/line-lock.yaml', '--seeds', '200', '--output', 'elsewhere'];
  const { code, out, err } = fencepost(...run);
  expect(err).toContain('corpus: 1 plan replayed, 1 as expected');
  expect(out).toContain('same plan on twin asking: 26 ms ⊘ refused, token 1');
  expect(out).not.toContain('broke, unlisted');
  expect(code).toBe(0);
});

test('every kept plan of a fixture with a module replays, with the printed command', async () => {
  for (const file of readdirSync(join(folder, 'own/plans'))) {
    const { code, out } = await here('replay', `own/plans/${file}`);
    expect({ file, code }).toEqual({ file, code: 0 });
    expect(out).not.toContain('another version');
  }
  const run = ['run', 'own/spin-lock.yaml', '--seeds', '20', '--output', 'elsewhere', '-q'];
  const printed = /^replay: npx --no-install fencepost ((?:.*\\\n)*.*)$/m.exec(
    (await here(...run)).out,
  )?.[1];
  const words = (printed ?? '').replaceAll('\\\n', ' ').split(/\s+/);
  expect(words).toContain('--modules');
  expect((await here(...words)).code).toBe(0);
});

describe('a changed module', () => {
  test('is reported if a plan that was made with another version is replayed', async () => {
    const copy = copyOfLock('changed');
    const file = join(folder, copy, 'spin-lock.mjs');
    writeFileSync(file, `${readFileSync(file, 'utf8')}// changed\n`);
    const { code, out, err } = await here('replay', join(copy, kept), '--modules', copy);
    expect(code).toBe(0);
    expect(out).toContain('reproduced, with another version of its system');
    expect(err).toContain('made with another version of ./spin-lock.mjs');
    const line = lastJson(
      (await here('replay', join(copy, kept), '--modules', copy, '--json')).out,
    );
    expect(line).toMatchObject({ outcome: 'reproduced', changedModules: ['./spin-lock.mjs'] });
  });

  test('is not run by any command on a plan, unless its folder is given', async () => {
    const copy = copyOfLock('strange');
    const file = join(folder, copy, 'spin-lock.mjs');
    writeFileSync(file, `console.log('it is run');\n${readFileSync(file, 'utf8')}`);
    const plans = join(copy, 'plans');
    for (const command of [
      ['replay', join(copy, kept)],
      ['show', join(copy, kept)],
      ['shrink', join(copy, kept)],
      ['corpus', 'check', '--corpus', plans],
      ['corpus', 'ls', '--corpus', plans],
      ['corpus', 'add', join(copy, kept), '--corpus', 'elsewhere/plans'],
    ]) {
      const { code, out, err } = await here(...command);
      expect({ command, code }).toEqual({ command, code: 2 });
      expect(out + err).toContain(
        './spin-lock.mjs differs from the version that the plan was made with',
      );
      expect(out + err).not.toContain('it is run');
    }
    // A run of the scenario runs its module anyway, and replays its plans.
    const run = ['run', join(copy, 'spin-lock.yaml'), '--seeds', '1', '--output', 'strange', '-v'];
    const { err } = await here(...run);
    expect(err).toContain('it is run');
    expect(err).toContain('corpus: 2 plans replayed');
    expect(err).not.toContain('was not run');
  });

  test('with a cure makes the plan `fixed`', async () => {
    const copy = copyOfLock('fixed');
    const file = join(folder, copy, 'spin-lock.mjs');
    writeFileSync(
      file,
      readFileSync(file, 'utf8')
        .replace("'any' }", "'own' }")
        .replace("fallback: 'any'", "fallback: 'own'"),
    );
    const { code, out } = await here('replay', join(copy, kept), '--modules', copy);
    expect(code).toBe(1);
    expect(out).toContain('fixed, expected reproduced, with another version of its system');
  });

  test('has its digest in the plan that is shrunk with it', async () => {
    const copy = copyOfLock('shrunk');
    const file = join(folder, copy, 'spin-lock.mjs');
    writeFileSync(file, `${readFileSync(file, 'utf8')}// changed\n`);
    expect(
      (await here('shrink', join(copy, kept), '--modules', copy, '--output', join(copy, kept)))
        .code,
    ).toBe(0);
    expect((await here('replay', join(copy, kept))).out).not.toContain('another version');
  });
});

test('`show` accepts a scenario with a module', async () => {
  const show = await here('show', 'own/spin-lock.yaml', '--system', 'naive', '--seed', '6');
  expect(show.code).toBe(0);
  expect(show.out).toContain('breaks');
});

describe('`--no-modules`', () => {
  test.each([
    ['run', 'own/spin-lock.yaml', 'own/spin-lock.yaml:7:6 use'],
    ['show', 'own/spin-lock.yaml', 'own/spin-lock.yaml:7:6 use'],
    ['replay', `own/${kept}`, `own/${kept}:7:3 use`],
    ['shrink', `own/${kept}`, `own/${kept}:7:3 use`],
  ])('makes `%s` refuse a file that uses a module, at its line', async (command, file, where) => {
    const { code, err } = await here(command, file, '--no-modules');
    expect(code).toBe(2);
    expect(err).toContain(where);
    expect(err).toContain('./spin-lock.mjs is not loaded: --no-modules');
  });

  test('does not affect a file without modules', async () => {
    const plan = join(root, 'fixtures/plans/zombie-writer-unfenced-grant-order.yaml');
    expect((await here('replay', plan, '--no-modules')).code).toBe(0);
  });
});

describe('a module that cannot be used ends with 2 and an explanation', () => {
  const scenario = 'name: bad\nuse: ./bad.mjs\nsystems: { a: { lock: mine, store: unfenced } }\n';
  const start = "import { defineSystem } from 'fencepost';\n";

  test.each([
    ['throws', "\nthrow new Error('not today');\n", 'cannot be loaded: not today (at line 2'],
    ['has an error', 'export default {;\n', 'cannot be loaded: Unexpected token'],
    [
      'imports a missing package',
      "import 'no-such-package';\n",
      "Cannot find package 'no-such-package'",
    ],
    ['exports nothing', 'const a = 1;\n', 'has no default export'],
    ['exports no definition', 'export default 1;\n', 'has a default export other than'],
    ['never ends', 'await new Promise(() => {});\n', 'did not finish within 10 s'],
    [
      'is malformed',
      `${start}export default defineSystem({ locks: { mine: {} } });\n`,
      'locks.mine.about is not a string (at line 2',
    ],
  ])('because it %s', async (name, text, what) => {
    const copy = name.replaceAll(' ', '-');
    mkdirSync(join(folder, copy));
    writeFileSync(join(folder, copy, 'bad.yaml'), scenario);
    writeFileSync(join(folder, copy, 'bad.mjs'), text);
    // The process must exit, too.
    const run = name === 'never ends' ? fencepost : here;
    const { code, err } = await run('run', `${copy}/bad.yaml`);
    expect(err).toContain(`${copy}/bad.yaml:2:6 use: ./bad.mjs`);
    expect(err).toContain(what);
    expect(err).not.toMatch(/^ +at /m);
    expect(code).toBe(2);
  });
});

test('a lock that cannot be built is refused with the reason', async () => {
  const copy = copyOfLock('unbuildable');
  const file = join(folder, copy, 'spin-lock.mjs');
  const text = readFileSync(file, 'utf8').replace('new SpinServer()', 'new SpinServr()');
  writeFileSync(file, text);
  for (const command of ['run', 'show']) {
    const { code, err } = await here(command, `${copy}/spin-lock.yaml`);
    expect(err).toContain('systems.naive: the lock spin-lock cannot be built: SpinServr is not');
    expect(err).not.toMatch(/^ +at /m);
    expect(code).toBe(2);
  }
});

test('a server that cannot fail over fails the seeds with a failover', async () => {
  const copy = copyOfLock('failing-over');
  const file = join(folder, copy, 'spin-lock.yaml');
  const fault = '  - failover: { process: lock, at: 1ms..50ms, lag: 5ms, chance: 1/4 }\n';
  writeFileSync(file, readFileSync(file, 'utf8') + fault);
  const { code, out, err } = await here('run', `${copy}/spin-lock.yaml`, '--seeds', '20');
  expect(`${out}${err}`).toContain('it cannot fail over: no `snapshot`');
  expect(`${out}${err}`).not.toMatch(/^ +at /m);
  expect(code).toBe(3);
});

test('a server that throws is a failure of the system under test, with its seed', async () => {
  const copy = copyOfLock('throwing');
  const file = join(folder, copy, 'spin-lock.mjs');
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(
      'const { client } = turn;',
      "throw new Error('the server is ill');",
    ),
  );
  rmSync(join(folder, copy, 'plans'), { recursive: true });
  const { code, out, err } = await here('run', `${copy}/spin-lock.yaml`, '--seeds', '3');
  expect(code).toBe(3);
  expect(`${out}${err}`).toContain('lock: the server is ill');
  expect(`${out}${err}`).not.toMatch(/^ +at /m);
});

test.each([
  ['ends the process', 'process.exit(0);', 'cannot be loaded: the module leaves', 2],
  [
    'has an unhandled rejection',
    "Promise.reject(new Error('boo'));",
    'cannot be loaded: boo (at line',
    2,
  ],
])('a module that %s gives no result', (name, line, message, exit) => {
  const copy = copyOfLock(name.replaceAll(' ', '-'));
  const file = join(folder, copy, 'spin-lock.mjs');
  writeFileSync(file, `${readFileSync(file, 'utf8')}\n${line}\n`);
  const { code, err } = fencepost('run', `${copy}/spin-lock.yaml`, '--seeds', '5');
  expect(err).toContain(message);
  expect(err).not.toMatch(/^ +at /m);
  expect(code).toBe(exit);
});

test('a timer that a module leaves running does not keep the command alive', () => {
  const copy = copyOfLock('leaves-a-timer');
  const file = join(folder, copy, 'spin-lock.mjs');
  writeFileSync(file, `${readFileSync(file, 'utf8')}\nsetInterval(() => {}, 1000);\n`);
  expect(fencepost('show', `${copy}/spin-lock.yaml`).code).toBe(0);
});
