/**
 * Tests user code that never ends, with the built package in `dist`: every command ends within 20 s
 * of CPU time, names the place, and exits with 3; Ctrl-C ends it at once; and no user code runs on
 * the main thread.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { some } from '../../properties/runs.ts';
import { type Ended, root } from './command-line.fixture.ts';

/** If a fault names a point, runs look for that point before the sweep. */
const PLACED = 'faults: [{ pause: { before: release, for: 1ms..60ms } }]';
const WHERE = '    const owner = randomUUID();\n';
/** Code to insert into `acquire`; for the last, into the module. */
const HANGS = {
  loop: 'for (;;);',
  chain: 'for (;;) await null;',
  growing: 'for (const kept = []; ; ) kept.push({ kept: [] });',
  import: 'for (;;);',
} as const;
type Hang = keyof typeof HANGS;

/** A small heap fills soon, and four of them fit into a small machine. */
const SMALL_HEAP = '--max-old-space-size=1024';

let folder = '';
beforeAll(async () => {
  // Inside the package, so that modules can import `fencepost`.
  folder = mkdtempSync(join(root, 'reports/hangs-'));
  writeFileSync(join(folder, 'times.mjs'), TIMES);
  const starter = (name: string): string =>
    readFileSync(join(root, 'fixtures/starter/locks', name), 'utf8');
  for (const [name, hang] of [...Object.entries(HANGS), ['calm', '']]) {
    const lock = starter('my-lock.mjs');
    const isLoaded = name === 'import';
    const broken = isLoaded ? `${lock}\n${hang}\n` : lock.replace(WHERE, `${WHERE}    ${hang}\n`);
    writeFileSync(join(folder, `${name}.mjs`), broken);
    const scenario = starter('my-lock.yaml')
      .replace('./my-lock.mjs', `./${name}.mjs`)
      .replace('faults: all', PLACED);
    writeFileSync(join(folder, `${name}.yaml`), scenario);
  }
  const drawn = await fencepost(['show', 'calm.yaml', '--plan', 'drawn']);
  writeFileSync(join(folder, 'plan.yaml'), drawn.out);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Reports the CPU time of its process. */
const TIMES = `import { writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
const { user, system } = process.cpuUsage();
const before = user + system;
if (isMainThread) process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  writeSync(2, \`cpu \${(user + system - before) / 1e6}\\n\`);
});
`;

interface Timed extends Ended {
  readonly cpuS: number;
}

/** The default CPU time of a thread without an event. */
const DEFAULT_MS = 5_000;
/** Most tests use a shorter limit, which involves the same steps. */
const SHORT_MS = 1_000;
const stalledFor = (limitMs: number): string => `${limitMs / 1_000} s of CPU time without an event`;

/** With the default limit, the variable is not set. */
function fencepost(args: readonly string[], limitMs: number = SHORT_MS): Promise<Timed> {
  const options = `${SMALL_HEAP} --import ${pathToFileURL(join(folder, 'times.mjs')).href}`;
  const env = {
    ...process.env,
    NO_COLOR: '1',
    NODE_OPTIONS: options,
    FENCEPOST_STALL_MS: limitMs === DEFAULT_MS ? undefined : String(limitMs),
  };
  const child = spawn('node', [join(root, 'dist/cli.js'), ...args], { cwd: folder, env });
  const said = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.err += text;
  });
  return new Promise((resolve) => {
    child.on('close', (code) => {
      const [, cpuS = 'NaN'] = /^cpu (.*)$/m.exec(said.err) ?? [];
      resolve({ code, ...said, cpuS: Number(cpuS) });
    });
  });
}

/** Writes a scenario with one system, whose `acquire` runs this code. Returns its name. */
function lockThat(name: string, does: string): string {
  const calm = readFileSync(join(folder, 'calm.mjs'), 'utf8');
  writeFileSync(join(folder, `${name}.mjs`), calm.replace(WHERE, `${WHERE}    ${does}\n`));
  const text = readFileSync(join(folder, 'calm.yaml'), 'utf8').replace('calm.mjs', `${name}.mjs`);
  writeFileSync(join(folder, `${name}.yaml`), text.replace(/^ {2}own-release:.*?(?=^\S)/ms, ''));
  return `${name}.yaml`;
}

/** Writes a plan of the calm lock, with a module that hangs instead. Returns its name. */
function planOf(hang: Hang): string {
  const file = `${hang}-plan.yaml`;
  const text = readFileSync(join(folder, 'plan.yaml'), 'utf8');
  writeFileSync(join(folder, file), text.replaceAll('./calm.mjs', `./${hang}.mjs`));
  return file;
}

const REPORTS = ['report.json', 'junit.xml', 'my-lock.html'];
const LIMIT = { timeout: 180_000 };
/** Code that makes every section of the starter's lock hang, with the reported reason. */
const ALWAYS = [
  ['loop', 'for (;;);', stalledFor(DEFAULT_MS), DEFAULT_MS],
  [
    'eat',
    'for (const kept = []; ; ) kept.push(new Array(1e4).fill(1.5));',
    'heap out of memory',
    DEFAULT_MS,
  ],
] as const;
const COMMANDS = {
  run: (hang: Hang) => ['run', `${hang}.yaml`, '--seeds', '20', '--output', 'reports'],
  show: (hang: Hang) => ['show', `${hang}.yaml`],
  replay: (hang: Hang) => ['replay', planOf(hang), '--modules', '.'],
  shrink: (hang: Hang) => ['shrink', planOf(hang), '--modules', '.'],
} as const;

const NAMES = ['loop', 'chain', 'growing', 'import'] as const;
/** Besides `run`, `npm run test:all` tests some other commands, and `npm run nightly` all. */
const OTHERS = some(
  NAMES.flatMap((hang) =>
    (['show', 'replay', 'shrink'] as const).map((command) => ({ hang, command })),
  ),
);

describe.each(NAMES)('%s', (hang) => {
  const others = OTHERS.flatMap((one) => (one.hang === hang ? [one.command] : []));
  const law = test.concurrent.each(['run', ...others] as const);
  law('`%s` ends without a signal, with 3, and names the place', LIMIT, async (command) => {
    // One case uses the default; a growing heap must fill before the limit.
    const isDefault = hang === 'growing' || (hang === 'loop' && command === 'run');
    const limitMs = isDefault ? DEFAULT_MS : SHORT_MS;
    const { code, err, cpuS } = await fencepost(COMMANDS[command](hang), limitMs);
    const where = hang === 'import' ? './import.mjs' : '(seed 0 of first in my-lock|.*plan.yaml)';
    const line = `${hang}\\.mjs:\\d+:\\d+`;
    const why =
      hang === 'chain'
        ? `failed: \\w+: it never waits: a million promise jobs in a row, at ${line}`
        : `did not finish: (${stalledFor(limitMs)}|heap out of memory), at ${line}`;
    expect(err).toMatch(new RegExp(`✗ ${where} ${why}`));
    expect(code).toBe(3);
    expect(cpuS).toBeLessThan(20);
  });
});

test('a loop in `buildAsync` ends like one in the module', LIMIT, async () => {
  const calm = readFileSync(join(folder, 'calm.mjs'), 'utf8');
  const builds = calm.replace(/^function buildAsync.*$/m, '$&\n  for (;;);');
  writeFileSync(join(folder, 'builds.mjs'), builds);
  const text = readFileSync(join(folder, 'calm.yaml'), 'utf8').replace('calm.mjs', 'builds.mjs');
  writeFileSync(join(folder, 'builds.yaml'), text);
  const { code, err, cpuS } = await fencepost(['run', 'builds.yaml', '--seeds', '20']);
  const why = `did not finish: ${stalledFor(SHORT_MS)}`;
  expect(err).toMatch(new RegExp(`✗ ./builds\\.mjs ${why}, at builds\\.mjs:\\d+:\\d+`));
  expect([code, cpuS < 20]).toEqual([3, true]);
});

test('a seed that does not end affects no other seed', LIMIT, async () => {
  const throwing = lockThat('tells', "throw new Error('it is ' + owner);");
  const { out } = await fencepost(['run', throwing, '--seed', '1', '--output', 'reports']);
  const [, owner = expect.fail(out)] = /it is\s+([-0-9a-f]{36})/.exec(out) ?? [];
  const once = lockThat('once', `if (owner === '${owner}') for (;;);`);
  const ended = await fencepost(['run', once, '--seeds', '20', '--output', 'reports']);
  expect(ended.out).toMatch(
    new RegExp(
      `✗ first failed on seed 1: it did not finish: ${stalledFor(SHORT_MS)}, at once\\.mjs:\\d+:\\d+`,
    ),
  );
  expect(ended.out).toMatch(/owner-only-release on \d+,.* of\s+20 seeds/s);
  expect(ended.code).toBe(3);
});

test(
  'seeds that never finish are one failure in all reports, and the run is not met',
  LIMIT,
  async () => {
    for (const [name, does, why, limitMs] of ALWAYS) {
      const scenario = lockThat(`always-${name}`, does).replace('.yaml', '-2.yaml');
      const text = readFileSync(join(folder, `always-${name}.yaml`), 'utf8');
      writeFileSync(join(folder, scenario), text.replace(PLACED, 'faults: all'));
      const output = `out-${name}`;
      const args = ['run', scenario, '--seeds', '60', '--output', output];
      const { out, code, cpuS } = await fencepost(
        [...args, '--reporter', 'text,json,junit,html'],
        limitMs,
      );
      const error = `it did not finish: ${why}, at always-${name}.mjs:`;
      expect(out).toContain(`✗ first failed on seed 0: ${error}`);
      expect(out).not.toMatch(/^✓/m);
      expect([code, cpuS < 20]).toEqual([3, true]);
      for (const file of REPORTS) {
        expect(readFileSync(join(folder, output, file), 'utf8')).toContain(error);
      }
    }
  },
);

test(
  'a section that waits forever is reported as broken, listed or not, with its line',
  LIMIT,
  async () => {
    const waits = lockThat('waits', 'await new Promise(() => {});');
    const line = readFileSync(join(folder, 'waits.mjs'), 'utf8')
      .split('\n')
      .findIndex((text) => text.includes('new Promise'));
    const { out, code } = await fencepost(['run', waits, '--seeds', '20', '--output', 'reports']);
    const where = `never ended; waiting\\s+since \\S+ m?s at waits\\.mjs:${line + 1}\\b`;
    expect(out).toMatch(new RegExp(`✗ \\w+'s section 1 ${where}`));
    expect(out).toMatch(/sections: 180 planned, \d+ begun: .*\d+ never ended/);
    expect(code).toBe(1);
    const shown = await fencepost(['show', waits]);
    expect(shown.out).toMatch(new RegExp(`! alice/1.* ${where}`));
    expect(shown.code).toBe(0);
  },
);

test('`show` ends with 3 if the code of the seed failed', LIMIT, async () => {
  const fails = lockThat('fails', "throw new TypeError('no owner');");
  for (const flags of [[], ['--json'], ['--format', 'mermaid']]) {
    expect((await fencepost(['show', fails, ...flags])).code).toBe(3);
  }
});

test(
  '`show --points` loads no module on the main thread, where it could not be ended',
  LIMIT,
  async () => {
    const { code, err } = await fencepost(['show', '--points', 'import.yaml']);
    expect(err).toMatch(/import\.mjs:\d+:\d+/);
    expect(code).toBe(3);
  },
);

describe('Ctrl-C', () => {
  test.each(['loop', 'import'] as const)('ends %s within 2 s, with 130', LIMIT, async (hang) => {
    const child = spawn('node', [join(root, 'dist/cli.js'), 'show', `${hang}.yaml`], {
      cwd: folder,
    });
    // It prints nothing, and would end without help after 5 s of CPU time.
    await wait(3_000);
    child.kill('SIGINT');
    const startedMs = performance.now();
    const code = await new Promise((resolve) => child.on('exit', resolve));
    expect(code).toBe(130);
    expect(performance.now() - startedMs).toBeLessThan(2_000);
  });
});
