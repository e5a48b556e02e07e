/** Tests `fencepost/vitest` in a user's project: real vitest processes, in each pool. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { rotating } from '../../../properties/runs.ts';
import { outputOf, Project, type Ran } from './project.fixture.ts';
import {
  cancelScript,
  curedTest,
  driverLock,
  fakeTimersTests,
  idleTest,
  lockFile,
  longTest,
  manyTests,
  modulesTest,
  saboteurTests,
  shownTest,
  togetherTests,
  tokenlessTest,
  turnsTest,
} from './sources.fixture.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
/** Allows for a busy machine. */
const PATIENCE = { timeout: 30_000 };

const NAME = 'two clients never lose an update';

const project = new Project({
  'my-tests.ts': lockFile,
  'my-lock.mjs': readFileSync(join(root, 'fixtures/guide/my-lock.mjs'), 'utf8'),
  'zombie.yaml': `name: zombie
systems:
  unfenced: { lock: lock-service, store: unfenced, expect: { breaks: [grant-order] } }
  fenced: { lock: lock-service, store: fenced }
faults:
  - pause: { before: write, for: 1ms..40ms, chance: 1/2 }
`,
  'lock.test.ts': shownTest,
  'many.test.ts': manyTests,
  'together.test.ts': togetherTests,
  'fake-timers.test.ts': fakeTimersTests,
});
afterAll(() => project.remove());

const failed = (ran: Ran): readonly string[] =>
  [...ran.tests].filter(([, { status }]) => status === 'failed').map(([name]) => name);

/** Removes the stack line, whose numbers differ between pools. */
const messages = ({ tests }: Ran): ReadonlyMap<string, string> =>
  new Map([...tests].map(([name, { message }]) => [name, message.replace(/\n\s+at .*/g, '')]));

let begun: Promise<Ran> | null = null;
/** Runs all tests of the project in forks once; later calls return the same result. */
const running = (): Promise<Ran> => {
  begun ??= project.run(['--pool=forks']);
  return begun;
};

const inTurn = rotating(test);

describe('a run in forks', () => {
  const messageOf = async (name: string): Promise<string> =>
    messages(await running()).get(name) ?? '';

  test('fails with a failure block, and the place of the test', async () => {
    const { code, tests } = await running();
    expect(code).toBe(1);
    const { status, message } = tests.get(NAME) ?? expect.fail('it did not run');
    expect(status).toBe('failed');
    expect(message.replaceAll(project.folder, '<folder>')).toMatchInlineSnapshot(`
      "Error: ✗ Write accepted by \`own-lock\` after a later holder had read
        grant-order of own-lock, seed 0
        Let A be bob's grant 1 of \`db\` (from 2 ms, ttl 18 ms) and B be alice's grant 2 (from 23 ms). Then
        alice read 0 from \`x\` at 24 ms. However, bob, paused from 4 ms to 24 ms, sent the write of 1 to
        \`x\` at 24 ms; it arrived at 25 ms, and the store accepted it although alice had already read \`x\`:
        the lease of bob's \`set\` had expired at 22 ms.

       #  ms  lock              alice             bob               store
       1   2  │                 │                 enters db for 18 ms, until 20 ms ← A, grant 1
       2   2  │                 │                 believes it holds db until 20 ms
       3   3  │                 │                 │                 ✓ serves x = 0 to bob
       4   4  │                 │                 own clock: lease is live ← lease test
       5   4  │                 │                 paused for 20 ms, until 24 ms ← pause
          22  gets alice's \`set\` ← turning point  │                 │
       6  22  alice takes \`db\` until 43 ms ← expiry                 │
       7  23  │                 enters db for 18 ms, until 41 ms ← B, grant 2
       8  23  │                 believes it holds db until 41 ms    │
       9  24  │                 │                 ▶ resumes         │
          24  │                 │                 sends write x = 1 → store
      10  24  │                 │                 │                 ✓ serves x = 0 to alice ← later read
      11  25  │                 │                 │                 ✓ accepts bob's x = 1 ← stale write

      shrunk 43 → 15 events, 1 fault → 1; breaks with any pause of bob over 19 ms
      seed:   FENCEPOST_SEED=0 npx vitest run lock.test.ts -t 'two clients never lose an update'
      keep:   FENCEPOST_UPDATE=1 npx vitest run lock.test.ts -t 'two clients never lose an update'
          at <folder>/lock.test.ts:5:1"
    `);
    expect(message.split('\n').length - 1).toBeLessThanOrEqual(25);
  });

  test('passes if expectations are met, and fails otherwise', async () => {
    const ran = await running();
    expect([...failed(ran)].sort()).toEqual(
      [
        NAME,
        'a mistake',
        'an assertion',
        'an escape',
        'nothing that breaks',
        'nothing put to the test',
        'an operation of another name',
        'a memory',
        'wrong options',
        'wrong fields',
        'too little time',
        'no options',
        'a file that is missing',
      ].sort(),
    );
    const statuses = [...ran.tests.values()].map(({ status }) => status);
    expect(statuses.filter((status) => status === 'passed').length).toBe(20);
    expect(statuses.filter((status) => status === 'skipped').length).toBe(1);
    expect(statuses.filter((status) => status === 'todo').length).toBe(1);
    expect(ran.output).not.toContain('printed in section 1');
    expect(ran.output).not.toContain('Unhandled');
  });

  test('reports an error of the body with its place', async () => {
    expect(await messageOf('a mistake')).toContain(
      "✗ own-lock failed on seed 0: alice: Cannot read properties of undefined (reading 'such')",
    );
    expect(await messageOf('an assertion')).toContain('expected 20 to be 21');
    const { output } = await running();
    expect(output).toMatch(/Caused by: TypeError: .*\n ❯ many\.test\.ts:\d+:\d+/);
    expect(output).toMatch(/Caused by: AssertionError: [^❯]*❯ many\.test\.ts:\d+:\d+/);
    expect(await messageOf('an escape')).toMatch(
      /leaves the simulated world: fetch at .*many\.test/,
    );
  });

  test('fails if nothing was exercised, and if runs differ', async () => {
    expect(await messageOf('nothing that breaks')).toBe(
      'Error: ✗ at-most-once of own-lock should break but held on 5 seeds\n' +
        '  pause fired during 3 grants: 3 between a read and its write',
    );
    expect(await messageOf('nothing put to the test')).toContain(
      'vacuous: crash never fired while a lock was held',
    );
    expect(await messageOf('an operation of another name')).toMatch(
      /^Error: faults\[0\].pause.before: no client ever passes "release"; nearest: .*\bset\b/,
    );
    expect(await messageOf('a memory')).toMatch(/two runs of seed 0 of own-lock differ\n {2}event/);
  });

  test('ends at its timeout, and begins no seed once its budget is spent', async () => {
    expect(await messageOf('too little time')).toMatch(
      /^Error: timed out after 0\.001 s, with 0 of 20 seeds examined\nraise `timeout`/,
    );
    const { output } = await running();
    expect(output).toContain('fencepost: a budget: the budget is spent after 1 of 20 seeds');
  });

  test('reports a wrong option like a scenario file does', async () => {
    expect(await messageOf('wrong options')).toBe(
      'Error: unknown field "seedz"; did you mean "seeds"?',
    );
    expect(await messageOf('wrong fields')).toBe(
      'Error: holds[0]: unknown claim "grant-ordr"; did you mean "grant-order"?\n' +
        'faults[0].pausee: unknown fault "pausee"; did you mean "pause"?',
    );
    expect(await messageOf('no options')).toMatch(/lock: is missing.*\nfaults: is missing/);
    expect(await messageOf('a file that is missing')).toContain('there is no such file');
  });

  test('has the same results in threads without isolation', async () => {
    const args = ['--pool=threads', '--no-isolate', '--no-file-parallelism'];
    const ran = await project.run(args);
    expect(messages(ran)).toEqual(messages(await running()));
    expect(ran.output).not.toContain('Unhandled');
  });
});

inTurn('in node:vm contexts, asynchronous code is refused, and a named lock works', async () => {
  const ran = await project.run(['many', '--pool=vmThreads', '-t', 'a name|a ttl']);
  expect(failed(ran)).toEqual(['a ttl of 10ms', 'a ttl of 20ms']);
  expect(messages(ran).get('a ttl of 10ms')).toContain("`pool: 'forks'`");
  expect(ran.tests.get('a name')?.status).toBe('passed');
});

describe('a kept plan', () => {
  const folder = '__fencepost__/kept.test.ts';
  const kept = (): readonly string[] => readdirSync(join(project.folder, folder));

  test('is written on request, and named in the failure', async () => {
    project.write('kept.test.ts', tokenlessTest);
    const ran = await project.run(['kept.test.ts'], { FENCEPOST_UPDATE: '1' });
    expect(ran.code).toBe(1);
    const [name = ''] = kept();
    expect(name).toMatch(/^two-clients-never-lose-an-update-grant-order-[0-9a-f]{8}\.yaml$/);
    const file = `${folder}/${name}`;
    expect(ran.output).toContain(`wrote ${file}`);
    expect(ran.tests.get(NAME)?.message).toContain(`FENCEPOST_REPLAY=${file}`);
    expect(project.read(file)).toMatch(/^# .*\n# FENCEPOST_REPLAY=.*\n# sha256:/);
  });

  test('is replayed first', async () => {
    const { tests } = await project.run(['kept.test.ts']);
    expect(tests.get(NAME)?.message).toContain('grant-order of own-lock, a kept plan');
  });

  test('is not judged if a seed is requested', async () => {
    const { output, tests } = await project.run(['kept.test.ts'], { FENCEPOST_SEED: '17' });
    expect(output).toContain('seed 17 of own-lock');
    expect(tests.get(NAME)).toEqual({ status: 'passed', message: '' });
  });

  test.each<Readonly<Record<string, string>>>([
    { FENCEPOST_SEEDS: 'abc' },
    { FENCEPOST_SEEDS: 'abc', FENCEPOST_SEED: '17' },
  ])('does not hide a mistake in the environment: %o', async (environment) => {
    const ran = await project.run(['kept.test.ts'], environment);
    expect(messages(ran).get(NAME)).toBe(
      'Error: FENCEPOST_SEEDS abc: expected a whole number, e.g. 17',
    );
  });

  test('is replayed alone on request, and other tests are skipped', async () => {
    const more = { FENCEPOST_REPLAY: `${folder}/${kept()[0]}` };
    const ran = await project.run(['kept', 'together'], more);
    expect(failed(ran)).toEqual([NAME]);
    expect(ran.tests.get('one')?.status).toBe('skipped');
    expect(ran.output).toContain('reproduced: ✗ grant-order broke');
  });

  test('is a guard once its failure is fixed, and is removed once it tests nothing', async () => {
    project.write('kept.test.ts', curedTest);
    const cured = await project.run(['kept.test.ts']);
    expect(cured.tests.get(NAME)).toEqual({ status: 'passed', message: '' });
    project.write('kept.test.ts', idleTest);
    const idle = await project.run(['kept.test.ts'], { FENCEPOST_UPDATE: '1' });
    expect(idle.output).toContain(`removed ${folder}/`);
    expect(idle.tests.get(NAME)?.message).toContain(
      'vacuous: no write was ever accepted, pause never fired',
    );
    expect(kept()).toEqual([]);
  });
});

inTurn('a test fails with a place if no client gets the lock, or work is not awaited', async () => {
  project.write('saboteurs.test.ts', saboteurTests);
  const ran = await project.run(['saboteurs.test.ts']);
  const messageOf = (name: string): string => ran.tests.get(name)?.message ?? '';
  expect(failed(ran)).toEqual(['an unknown command', 'no guard', 'no await']);
  expect(messageOf('an unknown command')).toMatch(
    /no section was ever entered: \d+ ended by ReplyError: .*'FOO'.* at saboteurs\.test\.ts:9:/,
  );
  expect(messageOf('no guard')).toMatch(/ever entered: \d+ returned without section\.guard\(\)/);
  expect(messageOf('no await')).toMatch(
    /guard\.work\(\) at saboteurs\.test\.ts:18:\d+ was still in progress when its guard was left/,
  );
});

test('a requested seed runs alone, and its events are printed', async () => {
  const ran = await project.run(['lock.test.ts'], { FENCEPOST_SEED: '7' });
  expect(ran.output).toMatch(/seed 7 of own-lock\n\n *# +(ms|at) /);
  expect(ran.output).toMatch(/[✓✗–] grant-order (held|broke|was never exercised)/);
});

inTurn('a linked package, which vitest transforms, gives the same failure', async () => {
  const installed = messages(await running()).get(NAME);
  project.linkFencepost();
  expect(messages(await project.run(['lock.test.ts']))).toEqual(new Map([[NAME, installed]]));
});

inTurn('a change of its file reruns a test', async () => {
  project.write('watched.test.ts', tokenlessTest);
  const child = project.start(['watched.test.ts', '--watch']);
  const output = outputOf(child);
  const closed = new Promise((resolve) => child.on('close', resolve));
  await expect.poll(output, PATIENCE).toContain('1 failed');
  await expect.poll(output, PATIENCE).toContain('Watching for file changes');
  project.write('watched.test.ts', curedTest);
  await expect.poll(output, PATIENCE).toContain('1 passed');
  child.kill('SIGINT');
  await closed;
});

inTurn('a canceled test ends', async () => {
  project.write('long.test.ts', longTest);
  project.write('cancel.mjs', cancelScript);
  const child = project.startNode('cancel.mjs');
  const output = outputOf(child);
  await new Promise((resolve) => child.on('close', resolve));
  expect(output()).toContain('it ended');
});

inTurn(
  'a lock with its own driver is loaded for each process, and fails',
  async () => {
    const project = new Project({ 'lock.ts': driverLock, 'lock.test.ts': modulesTest });
    project.link('ioredis');
    const ran = await project.run([]);
    project.remove();
    expect(failed(ran)).toEqual(['each process has its own owner id']);
    expect(messages(ran).get('each process has its own owner id')).toMatch(
      /Stale write accepted by `own-lock`.*the store accepted\s+it/s,
    );
  },
  90_000,
);

test('a mutex in memory passes for one process, and fails for two', async () => {
  const two = turnsTest.replace('of one process', 'of two').replace('count: 1', 'count: 2');
  const project = new Project({ 'one.test.ts': turnsTest, 'two.test.ts': two });
  project.link('async-mutex');
  const ran = await project.run([]);
  project.remove();
  expect([...ran.tests.keys()].sort()).toEqual([
    'requests of one process take turns',
    'requests of two take turns',
  ]);
  expect(failed(ran)).toEqual(['requests of two take turns']);
  expect(messages(ran).get('requests of two take turns')).toMatch(/increment lost in `own-lock`/);
}, 120_000);

test('the example of docs/library.md compiles, and so does each kind of test', () => {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const options = ['--ignoreConfig', '--module', 'nodenext', '--target', 'es2022', '--strict'];
  const types = ['--types', 'node', '--lib', 'es2023', '--skipLibCheck', '--noEmit'];
  const roots = [
    '--typeRoots',
    join(root, 'node_modules/@types'),
    '--allowImportingTsExtensions',
    '--allowJs',
  ];
  const files = ['lock', 'many', 'together', 'fake-timers'].map((name) => `${name}.test.ts`);
  const args = [tsc, ...options, ...types, ...roots, ...files];
  expect(spawnSync('node', args, { encoding: 'utf8', cwd: project.folder }).stdout).toBe('');
});
