/** Tests partial runs on the command line: shards, and runs that are killed and resumed. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { outputLine } from '../report/output-schema.ts';
import { type Ended, root, runCli, runHere } from './command-line.fixture.ts';

const cli = join(root, 'dist/cli.js');
const folder = mkdtempSync(join(tmpdir(), 'fencepost-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fencepost(...args: string[]): Promise<Ended> {
  return runHere(args, { cwd: folder });
}

const SCENARIO = `
name: parts
systems:
  unfenced: { lock: lock-service, store: unfenced, expect: { holds: [fence-monotone] } }
  fenced: { lock: lock-service, store: fenced, expect: { holds: [fence-monotone], breaks: [tokens-unique] } }
  rare: { lock: lock-service, store: unfenced, expect: { breaks: [linearizable, grant-order] } }
clients: { count: 2, ttl: 10ms, sections: 2, think: 0ms..10ms }
workload: { kind: blind-writes }
network: { latency: 1ms..2ms }
faults:
  - pause: { process: clients, before: write, for: 1ms..40ms, chance: 1/2 }
  - crash: { process: clients, chance: 1/100000 }
`;

const SEEDS = ['--seeds', '7..96'];
const HERE = ['--workers', '0', '-q'];

beforeAll(() => {
  writeFileSync(join(folder, 'parts.yaml'), SCENARIO);
  mkdirSync(join(folder, 'plans'));
  const kept = 'zombie-writer-unfenced-grant-order.yaml';
  const text = readFileSync(join(root, 'fixtures/plans', kept), 'utf8');
  const plan = text.replace('scenario: zombie-writer', 'scenario: parts');
  writeFileSync(join(folder, 'plans', 'fixed.yaml'), plan.replace('store: unf', 'store: f'));
});

/** Removes the speed from the output, which differs between runs. */
function timeless(text: string): string {
  return text
    .replace(/"(seeds|events)PerSecond":\s*\d+/g, '"$1PerSecond":0')
    .replace(/[\d,]+ seeds\/s, [\d,]+ events\/s/g, '0 seeds/s, 0 events/s')
    .replace(/ time="[\d.]+"/g, ' time="0"');
}

/** Returns every file of a folder except shards, by name. */
function filesOf(at: string): Readonly<Record<string, string>> {
  const names = readdirSync(join(folder, at)).filter((name) => !name.startsWith('shard-'));
  return Object.fromEntries(
    names.map((name) => [name, timeless(readFileSync(join(folder, at, name), 'utf8'))]),
  );
}

const made: Map<number, readonly Ended[]> = new Map();

/** Runs each shard once, with files in `output`. Returns how the shards ended. */
async function runShards(of: number, output: string): Promise<readonly Ended[]> {
  const kept = `made-${of}`;
  const ended = [...(made.get(of) ?? [])];
  for (let at = ended.length + 1; at <= of; at += 1) {
    const shard = ['--shard', `${at}/${of}`, '--output', kept];
    ended.push(await fencepost('run', 'parts.yaml', ...SEEDS, ...HERE, ...shard));
  }
  made.set(of, ended);
  cpSync(join(folder, kept), join(folder, output), { recursive: true });
  return ended;
}

describe('shards', () => {
  const reporters = ['--reporter', 'text,html,junit,json,mermaid', '--output', 'reports'];

  test('merge into the judgment, findings, files and exit code of one run', async () => {
    const unsharded = await fencepost(
      'run',
      'parts.yaml',
      ...SEEDS,
      ...HERE,
      ...reporters,
      '--json',
    );
    const completeText = await fencepost('run', 'parts.yaml', ...SEEDS, ...HERE, ...reporters);
    const completeFiles = filesOf('reports');
    expect(Object.keys(completeFiles).length).toBeGreaterThan(4);
    const of = 4;
    rmSync(join(folder, 'reports'), { recursive: true });
    const codes = (await runShards(of, `shards-${of}`)).map(({ code }) => code);
    expect(codes).toEqual(codes.map(() => 1));
    const merged = await fencepost('merge', `shards-${of}`, ...reporters, '-q', '--json');
    expect(merged.code).toBe(unsharded.code);
    expect(timeless(merged.out)).toBe(timeless(unsharded.out));
    expect(filesOf('reports')).toEqual(completeFiles);
    const files = Array.from(
      { length: of },
      (_, at) => `shards-${of}/shard-${at + 1}-of-${of}.json`,
    );
    const text = await fencepost('merge', ...files.reverse(), ...reporters, '-q');
    expect(timeless(text.out)).toBe(timeless(completeText.out));
  });

  test('judge faults that never fired only when they are merged', async () => {
    const [first] = await runShards(2, 'unjudged');
    expect(first?.out).toContain('not judged: fenced (judged at merge)');
    expect(first?.out).not.toContain('never fired');
    const { out } = await fencepost('merge', 'unjudged', '-q');
    expect(out).toMatch(/✗ fenced: not met/);
    expect(out).toContain('crash never fired');
  });

  test('replay the kept plans once', async () => {
    const errorOf = async (shard: string): Promise<string> => {
      const range = ['--seeds', '10', '--workers', '0', '--shard', shard, '--output', 'once'];
      return (await fencepost('run', 'parts.yaml', ...range)).err;
    };
    expect(await errorOf('1/2')).toContain('corpus: 1 plan replayed, 0 as expected');
    expect(await errorOf('2/2')).toContain('corpus: replayed by shard 1');
    const { err } = await fencepost('merge', 'once');
    expect(err).toContain('corpus: 1 plan replayed, 0 as expected');
  });

  test('that are missing end a merge with 5, and write nothing', async () => {
    await runShards(4, 'missing');
    for (const at of [2, 4]) rmSync(join(folder, `missing/shard-${at}-of-4.json`));
    const { code, out, err } = await fencepost('merge', 'missing', '--output', 'nothing');
    expect([code, out]).toEqual([5, '']);
    expect(err).toBe('not merged: shards 2, 4 of 4 missing\n');
    expect(existsSync(join(folder, 'nothing'))).toBe(false);
  });

  test('that ended early are reported by a merge, which then ends with 5', async () => {
    const scenario = join(root, 'fixtures/zombie-writer.yaml');
    const early = ['--time', '500ms', '--workers', '0', '--shard', '1/1', '--output', 'early'];
    await fencepost('run', scenario, '--seeds', '100000', ...early, '-q');
    const { code, err } = await fencepost('merge', 'early', '-q');
    expect(err).toMatch(
      /^early\/shard-1-of-1\.json: incomplete: [\d,]+ of its 100,000 seeds of zombie-writer, /,
    );
    expect(code).toBe(5);
  });

  test('that are duplicate, damaged or of another run end a merge with 2, and why', async () => {
    const refused = async (why: RegExp): Promise<void> => {
      const { code, out, err } = await fencepost('merge', 'odd', '--output', 'nothing');
      expect(err).toMatch(why);
      expect([code, out]).toEqual([2, '']);
      expect(existsSync(join(folder, 'nothing'))).toBe(false);
    };
    await runShards(2, 'odd');
    const second = join(folder, 'odd/shard-2-of-2.json');
    const text = readFileSync(second, 'utf8');
    mkdirSync(join(folder, 'odd/copies'));
    const copy = join(folder, 'odd/copies/shard-2-of-2.json');
    copyFileSync(second, copy);
    await refused(
      /odd\/copies\/shard-2-of-2\.json and odd\/shard-2-of-2\.json are both shard 2 of 2/,
    );
    rmSync(copy);
    writeFileSync(second, text.slice(0, -30));
    await refused(/shard-2-of-2\.json:1:1: file is damaged: incomplete JSON/);
    writeFileSync(second, text.replace('"broken":', '"broken": 1'));
    await refused(/shard-2-of-2\.json:1:1: file is damaged: checksum/);
    writeFileSync(join(folder, 'other.yaml'), SCENARIO.replace('count: 2', 'count: 3'));
    const other = ['other.yaml', ...SEEDS, ...HERE, '--shard', '2/2', '--output', 'odd'];
    await fencepost('run', ...other);
    await refused(
      /shard-2-of-2\.json: differs from odd\/shard-1-of-2\.json: is for another version/,
    );
    await fencepost('run', 'parts.yaml', '--seeds', '8..96', ...other.slice(3));
    await refused(/is for the seeds 8\.\.96, not 7\.\.96/);
    expect((await fencepost('merge', 'plans')).err).toContain('no shard-');
    expect((await fencepost('merge', 'nowhere')).err).toContain(
      'nowhere:1:1: there is no such file',
    );
  });

  test('need no scenario file to be merged', async () => {
    await runShards(2, 'alone');
    mkdirSync(join(folder, 'elsewhere'));
    const args = ['merge', join(folder, 'alone'), '-q', '--output', 'out'];
    expect((await runHere(args, { cwd: join(folder, 'elsewhere') })).code).toBe(1);
  });

  test.each(['0/3', '4/3', '1', '1/0', 'a/b'])('%s is refused as a shard', async (shard) => {
    const { code, err } = await fencepost('run', 'parts.yaml', '--shard', shard);
    expect([code, err.slice(0, 7)]).toEqual([2, '--shard']);
  });
});

describe('a killed run', () => {
  const all = ['run', 'parts.yaml', '--seeds', '480', '--json'];
  const journal = (output: string): string => join(folder, output, 'parts.journal');
  let unsharded: Ended;
  beforeAll(async () => {
    unsharded = await fencepost(...all, '--workers', '0', '--output', 'same');
  });

  /** Starts a run, and kills it once its journal has this many lines. */
  async function killRun(output: string, lines: number, ...more: string[]): Promise<void> {
    const args = [cli, ...all, '--workers', '0', '--output', output, ...more];
    const child: ChildProcess = spawn('node', args, { cwd: folder, stdio: 'ignore' });
    const ended = new Promise((resolve) => child.on('exit', (_, signal) => resolve(signal)));
    while (linesOf(journal(output)) < lines) await new Promise((go) => setTimeout(go, 5));
    child.kill('SIGKILL');
    expect(await ended).toBe('SIGKILL');
  }

  function linesOf(file: string): number {
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0;
  }

  test('has the result of a complete run once resumed, and repeats no chunk', async () => {
    await killRun('same', 4);
    const done = linesOf(journal('same')) - 1;
    const resumed = runCli([...all, '--workers', '2', '--output', 'same', '--resume'], {
      cwd: folder,
    });
    expect(timeless(resumed.out)).toBe(timeless(unsharded.out));
    expect(resumed.code).toBe(unsharded.code);
    expect(resumed.err).toContain(`resume: ${done} chunks of seeds already done`);
    const [, runs] = /seeds 0\.\.479: ([\d,]+) runs/.exec(resumed.err) ?? [];
    expect(Number(runs?.replace(',', ''))).toBe(1440 - 64 * done);
    expect(existsSync(journal('same'))).toBe(false);
    outputLine.parse(JSON.parse(resumed.out.trim().split('\n').at(-1) ?? ''));
  });

  test('that was writing a line is resumed without that line, with a note', async () => {
    await killRun('torn', 4);
    const before = linesOf(journal('torn')) - 1;
    truncateSync(journal('torn'), readFileSync(journal('torn')).length - 9);
    const args = ['--workers', '0', '--output', 'torn', '--resume'];
    const resumed = await fencepost(...all, ...args);
    expect(resumed.err).toContain('truncated last line');
    expect(resumed.err).toContain(`resume: ${before - 1} chunks`);
    expect(timeless(resumed.out).replaceAll('torn/', 'same/')).toBe(timeless(unsharded.out));
  });

  test('can be killed and resumed twice', async () => {
    await killRun('twice', 3);
    const before = linesOf(journal('twice'));
    await killRun('twice', before + 2, '--resume');
    expect((await fencepost(...all, '--output', 'twice', '--resume')).err).toMatch(
      /resume: \d+ chunks/,
    );
  });

  test('is not resumed as another run', async () => {
    await killRun('other', 3);
    const text = readFileSync(journal('other'), 'utf8');
    const refused = async (args: readonly string[], why: string): Promise<void> => {
      const { code, out, err } = await fencepost(...args, '--output', 'other', '--resume');
      expect([code, out]).toEqual([2, '']);
      expect(err).toContain(why);
      expect(readFileSync(journal('other'), 'utf8')).toBe(text);
    };
    await refused(['run', 'parts.yaml', '--seeds', '481'], 'is for the seeds 0..479, not 0..480');
    writeFileSync(join(folder, 'edited.yaml'), SCENARIO.replace('count: 2', 'count: 3'));
    await refused(['run', 'edited.yaml', '--seeds', '480'], 'is for another version of parts');
    await refused(['run', 'parts.yaml', '--fresh'], '--fresh and --');
    const part = join(folder, 'other', 'parts-shard-1-of-2.journal');
    copyFileSync(journal('other'), part);
    const shard = await fencepost(...all, '--shard', '1/2', '--output', 'other', '--resume');
    expect(shard.err).toContain('is for all seeds, not for shard 1 of 2');
  });

  test('is not resumed from a journal that is damaged before its end', async () => {
    await killRun('damaged', 4);
    const lines = readFileSync(journal('damaged'), 'utf8').split('\n');
    lines[1] = lines[1]?.replace('"seeds":64', '"seeds":65') ?? '';
    writeFileSync(journal('damaged'), lines.join('\n'));
    const { code, err } = await fencepost(...all, '--output', 'damaged', '--resume');
    expect(code).toBe(2);
    expect(err).toMatch(/parts\.journal:2:1: journal is damaged: checksum/);
    expect((await fencepost(...all, '--workers', '0', '--output', 'damaged')).code).toBe(1);
  });
});

test('without a journal, a resumed run examines everything, with a note', async () => {
  const { code, err } = await fencepost(
    'run',
    'parts.yaml',
    '--seeds',
    '20',
    '--workers',
    '0',
    '--output',
    'none',
    '--resume',
  );
  expect(code).toBe(1);
  expect(err).toContain('resume: no none/parts.journal; running all seeds');
});

test('a killed shard is resumed as that shard', async () => {
  const args = ['run', 'parts.yaml', ...SEEDS, ...HERE, '--shard', '1/2', '--output', 'resumed'];
  await fencepost(...args, '--time', '1ms');
  const journal = join(folder, 'resumed/parts-shard-1-of-2.journal');
  expect(existsSync(journal)).toBe(true);
  appendFileSync(journal, '{"type":"chu');
  expect((await fencepost(...args, '--resume')).err).toContain('truncated last line');
  await fencepost('run', 'parts.yaml', ...SEEDS, ...HERE, '--shard', '2/2', '--output', 'resumed');
  const unsharded = await fencepost('run', 'parts.yaml', ...SEEDS, ...HERE, '--output', 'one');
  const merged = await fencepost('merge', 'resumed', '-q', '--output', 'one');
  expect(timeless(merged.out)).toBe(timeless(unsharded.out));
  expect(existsSync(journal)).toBe(false);
});
