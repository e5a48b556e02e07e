/** Tests the command line: its output, exit codes and messages. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { outputLine } from '../report/output-schema.ts';
import { type Ended, root, runHere } from './command-line.fixture.ts';

const cli = join(root, 'dist/cli.js');
const folder = mkdtempSync(join(tmpdir(), 'fencepost-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fencepost(...args: string[]): Promise<Ended> {
  return runHere(args);
}

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** Returns the last line of `--json`, after a check against the shipped schema. */
function lastJson(out: string): unknown {
  return outputLine.parse(JSON.parse(out.trim().split('\n').at(-1) ?? ''));
}

const SMALL = `
name: small
systems:
  unfenced: { lock: lock-service, store: unfenced, expect: EXPECT }
clients: { count: 2, ttl: 10ms, sections: 2, think: 0ms..10ms }
workload: { kind: blind-writes }
network: { latency: 1ms..2ms }
FAULTS
`;

const PAUSES =
  'faults: [{ pause: { process: clients, before: write, for: 1ms..40ms, chance: 1/2 } }]';

function small(name: string, expectation: string, faults = PAUSES): string {
  return file(name, SMALL.replace('EXPECT', expectation).replace('FAULTS', faults));
}

const quick = ['--seeds', '100', '--workers', '0', '--output', join(folder, 'reports')];

describe('run', () => {
  test('ends with 0, a summary and files if every expectation is met', async () => {
    const path = small('met.yaml', '{ breaks: [fence-monotone] }');
    const { code, out } = await fencepost('run', path, ...quick, '--json');
    expect(code).toBe(0);
    const lines = out
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(lines[0]).toMatchObject({ type: 'finding', claim: 'fence-monotone' });
    expect(lines.at(-1)).toMatchObject({
      type: 'summary',
      exit: 0,
      scenarios: [
        { name: 'small', systems: [{ met: true, counterexample: { faults: 1, chance: 0 } }] },
      ],
    });
    expect(readFileSync(join(folder, 'reports/small.html'), 'utf8')).toContain('<svg');
    const plan = join(folder, 'reports/small-unfenced-fence-monotone.yaml');
    expect((await fencepost('replay', plan)).code).toBe(0);
  });

  test('ends with 1 if a claim breaks that should hold, and explains it in 25 lines', async () => {
    const { code, out } = await fencepost(
      'run',
      small('broken.yaml', '{ holds: [fence-monotone] }'),
      ...quick,
    );
    expect(code).toBe(1);
    const block = out.slice(out.indexOf('✗'), out.indexOf('keep:')).split('\n');
    expect(block.length).toBeLessThanOrEqual(25);
    for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
    expect(block.join(' ')).toMatch(/Let A be .* Then .* However, /s);
  });

  test('ends with 1 if a claim holds that should break', async () => {
    const path = small('missing.yaml', '{ breaks: [tokens-unique] }');
    expect((await fencepost('run', path, ...quick)).code).toBe(1);
  });

  test('ends with 5 if a claim that should hold was never exercised', async () => {
    const never = 'faults: [{ pause: { process: clients, for: 1ms, chance: 1/100000 } }]';
    const { code, out } = await fencepost(
      'run',
      small('idle.yaml', '{ holds: [tokens-unique] }', never),
      ...quick,
    );
    expect(code).toBe(5);
    expect(out).toContain('pause never fired');
  });

  test('refuses a fault without a place, with the nearest names', async () => {
    const nowhere = 'faults: [{ pause: { process: clients, after: renew, for: 1ms } }]';
    const path = small('nowhere.yaml', '{ holds: [tokens-unique] }', nowhere);
    for (const command of ['run', 'show']) {
      const { code, out, err } = await fencepost(command, path);
      expect([code, out]).toEqual([2, '']);
      expect(err).toMatch(
        /nowhere\.yaml:\d+:46 faults\[0\]\.pause\.after: no client ever passes "renew"; nearest: /,
      );
    }
  });

  test('does not judge `breaks` on a single seed', async () => {
    const path = small('single.yaml', '{ breaks: [fence-monotone] }', '');
    const { code, out } = await fencepost('run', path, '--seed', '4', '--workers', '0', '--json');
    expect(code).toBe(0);
    expect(lastJson(out)).toMatchObject({ scenarios: [{ systems: [{ met: null, seeds: 1 }] }] });
  });

  test('repeats every seed on request, and finds no difference', async () => {
    const path = small('twice.yaml', '{ breaks: [fence-monotone] }');
    const { code, err } = await fencepost('run', path, ...quick, '--check-determinism');
    expect(code).toBe(0);
    expect(err).toContain('100 runs repeated, all events equal');
  });

  test('ends with its own result if its stderr is closed', async () => {
    const child = spawn('node', [cli, 'run', 'six-steps', '--output', join(folder, 'unread')]);
    child.stderr.destroy();
    child.stdout.resume();
    expect(await new Promise((resolve) => child.on('exit', resolve))).toBe(0);
  });

  test.skipIf(!existsSync('/dev/full'))('writes its files even if stdout is full', () => {
    const full = openSync('/dev/full', 'w');
    const output = join(folder, 'full');
    const args = [cli, 'run', 'six-steps', '--quiet', '--output', output];
    const ended = spawnSync('node', args, { encoding: 'utf8', stdio: ['ignore', full, 'pipe'] });
    expect(ended.stderr).toBe('stdout cannot be written: the disk is full\n');
    expect(ended.status).toBe(2);
    expect(existsSync(join(output, 'six-steps.html'))).toBe(true);
  });

  test('interrupted, prints the results so far and ends with 130', async () => {
    const path = small('long.yaml', '{ breaks: [fence-monotone] }');
    const args = [cli, 'run', path, '--seeds', '100000000', '--output', join(folder, 'long')];
    const child: ChildProcess = spawn('node', args, { cwd: root });
    let out = '';
    child.stdout?.on('data', (data) => {
      out += String(data);
    });
    // The sweep starts after a few seeds were run twice.
    child.stderr?.on('data', (data) => {
      if (String(data).includes('determinism')) setTimeout(() => child.kill('SIGINT'), 2000);
    });
    const code = await new Promise((resolve) => child.on('exit', resolve));
    expect(code).toBe(130);
    expect(out).toMatch(/broke as expected: unfenced: fence-monotone on [\d,]+ of [\d,]+ seeds/);
    expect(out).toMatch(/^\? interrupted after [\d,–]+ of 100,000,000 seeds: /m);
  });

  test('interrupted among several scenarios, names the current one', async () => {
    const first = small('first.yaml', '{ breaks: [fence-monotone] }');
    const second = file('second.yaml', readFileSync(first, 'utf8').replace('small', 'second'));
    const args = [
      cli,
      'run',
      first,
      second,
      '--seeds',
      '100000000',
      '--output',
      join(folder, 'two'),
    ];
    const child: ChildProcess = spawn('node', args, { cwd: root });
    let [out, all] = ['', ''];
    // A second signal would end the command at once.
    let isSent = false;
    child.stdout?.on('data', (data) => {
      out += String(data);
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (data) => {
        all += String(data);
        if (isSent || !/^ {2}[\d,]+ of [\d,]+ runs/m.test(all)) return;
        isSent = child.kill('SIGINT');
      });
    }
    expect(await new Promise((resolve) => child.on('close', resolve)), all).toBe(130);
    expect(out).toMatch(/interrupted after [\d,–]+ of 100,000,000 seeds/);
    expect(out).toMatch(/^\? interrupted in scenario 1 of 2: /m);
  });
});

describe('a mistake in the input', () => {
  async function fails(path: string, what: RegExp): Promise<void> {
    const { code, out, err } = await fencepost('run', path, ...quick);
    expect(err).toMatch(what);
    expect(err).not.toMatch(/^\s+at /m);
    expect(out).toBe('');
    expect(code).toBe(2);
  }

  test('gets a line per mistake, with file, line, column and a suggestion', async () => {
    const wrong = SMALL.replace('EXPECT', '{}').replace('ttl:', 'tll:');
    const path = file('typos.yaml', wrong.replace('FAULTS', 'faults: [{ pausee: {} }]'));
    await fails(path, /typos\.yaml:5:\d+ clients\.tll: .*did you mean "ttl"\?/);
    await fails(path, /typos\.yaml:8:\d+ faults\[0\]\.pausee: .*did you mean "pause"\?/);
    const claims = small('claims.yaml', '{ holds: [grant-ordr], breaks: [tokens-uniqe] }');
    await fails(claims, /claims\.yaml:4:\d+ .*did you mean "grant-order"/);
    await fails(claims, /claims\.yaml:4:\d+ .*did you mean "tokens-unique"/);
  });

  test('such as a directory, a binary or large file, or an alias bomb takes one line', async () => {
    mkdirSync(join(folder, 'directory'), { recursive: true });
    await fails(join(folder, 'nothing.yaml'), /nothing\.yaml:1:1: there is no such file/);
    await fails(join(folder, 'directory'), /this is a directory/);
    await fails(file('binary.yaml', Uint8Array.from([0, 1, 255, 254, 0])), /binary\.yaml:1:\d+: /);
    await fails(file('large.yaml', 'a: b\n'.repeat(2_000_000)), /at most 1000000 are read/);
    const bomb = Array.from({ length: 30 }, (_, at) => {
      const below =
        at === 0 ? '"x"' : `[${Array.from({ length: 9 }, () => `*a${at - 1}`).join(', ')}]`;
      return `a${at}: &a${at} ${below}`;
    });
    await fails(file('bomb.yaml', bomb.join('\n')), /bomb\.yaml:\d+:\d+.*alias/i);
    await fails(file('empty.yaml', ''), /empty\.yaml:1:1/);
    await fails(file('tabs.yaml', 'name: x\n\tsystems: {}\n'), /tabs\.yaml:2:/);
  });

  test('on the command line is reported with its option', async () => {
    const path = small('flags.yaml', '{}');
    expect(await fencepost('run', path, '--seeds', 'many')).toMatchObject({ code: 2 });
    expect((await fencepost('run', path, '--seeds', '9..3')).err).toContain(
      'ends before it begins',
    );
    expect((await fencepost('run', path, '--time', 'soon')).err).toContain('--time soon');
    expect((await fencepost('run', path, '--reporter', 'htm')).err).toContain('known: text, html');
    expect((await fencepost('run', path, '--sedes', '5')).err).toContain('--seeds');
    expect(await fencepost('rnu', path)).toMatchObject({ code: 2 });
    expect((await fencepost('run')).code).toBe(2);
    expect(await fencepost('run', path, '--seed', '3', '--seeds', '9')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--seed and --seeds: use only one of them'),
    });
    expect(await fencepost('run', 'src')).toMatchObject({
      code: 2,
      err: expect.stringContaining('src:1:1: this is a directory'),
    });
    const typo = await fencepost('run', path, ...quick, '--corpus', 'reports/typo');
    expect(typo.err).toContain('warning: no folder reports/typo; no kept plan replayed');
  });
});

describe('replay', () => {
  const path = join(root, 'fixtures/zombie-writer.yaml');

  test('distinguishes reproduced, fixed, inert and diverged', async () => {
    const output = join(folder, 'zombie');
    await fencepost('run', path, '--seeds', '100', '--workers', '0', '--output', output);
    const plan = join(output, 'zombie-writer-unfenced-grant-order.yaml');
    const text = readFileSync(plan, 'utf8');
    const outcome = async (name: string, edited: string): Promise<unknown> =>
      lastJson((await fencepost('replay', file(name, edited), '--json')).out);
    expect(await outcome('same.yaml', text)).toMatchObject({
      outcome: 'reproduced',
      divergedAt: null,
    });
    const fenced = text.replace('store: unfenced', 'store: fenced');
    expect(await outcome('fixed.yaml', fenced)).toMatchObject({ outcome: 'fixed' });
    const short = text.replace(/for: \d+ms/, 'for: 1ms');
    expect(await outcome('inert.yaml', short)).toMatchObject({ outcome: 'inert' });
    const lost = text.replace(/before: (\w+)\/(\d+)\/write/, 'before: $1/$2/wrote');
    expect(await outcome('diverged.yaml', lost)).toMatchObject({
      outcome: 'diverged',
      divergedAt: expect.stringContaining('/wrote'),
    });
    expect((await fencepost('replay', join(folder, 'inert.yaml'))).code).toBe(1);
    expect((await fencepost('replay', join(folder, 'diverged.yaml'))).code).toBe(5);
  });
});

test('show prints a plan that shrink accepts, and shrink returns a smaller one', async () => {
  const scenario = join(root, 'fixtures/zombie-writer.yaml');
  const run = await fencepost('run', scenario, ...quick, '--json');
  const finding: unknown = JSON.parse(run.out.split('\n')[0] ?? '');
  const seed = /"seed":(\d+)/.exec(JSON.stringify(finding))?.[1] ?? '';
  const at = ['--system', 'unfenced', '--seed', seed];
  const plan = file(
    'drawn.yaml',
    (await fencepost('show', scenario, ...at, '--plan', 'drawn')).out,
  );
  const shrunk = await fencepost('shrink', plan, '--json');
  expect(shrunk.code).toBe(0);
  expect(lastJson(shrunk.out)).toMatchObject({ type: 'shrink', after: { clients: 2, faults: 1 } });
});
