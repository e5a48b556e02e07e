/** Tests the files of `run --reporter`; every line of JSON fits the shipped schema. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { validateXML } from 'xmllint-wasm';
import { junitSchema } from '../report/junit.fixture.ts';
import { outputLine } from '../report/output-schema.ts';
import { defaultReporters } from './command.ts';
import { runProgram } from './program.ts';

const SCENARIO = `name: small
systems:
  unfenced:
    lock: lock-service
    store: unfenced
    expect: { holds: [fence-monotone] }
  wanted:
    lock: lock-service
    store: unfenced
    expect: { breaks: [fence-monotone] }
clients: { count: 2, ttl: 10ms, sections: 2, think: 0ms..10ms }
workload: { kind: blind-writes }
network: { latency: 1ms..2ms }
faults: [{ pause: { process: clients, before: write, for: 1ms..40ms, chance: 1/2 } }]
`;

let folder = '';
let scenario = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fencepost-reporters-'));
  scenario = join(folder, 'small.yaml');
  writeFileSync(scenario, SCENARIO);
  vi.stubEnv('GITHUB_ACTIONS', '');
  vi.stubEnv('GITHUB_STEP_SUMMARY', '');
  vi.stubEnv('GITHUB_WORKSPACE', folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function fencepost(...args: readonly string[]): Promise<Ended> {
  const written = { out: '', err: '' };
  const catchInto = (stream: NodeJS.WriteStream, name: 'out' | 'err') =>
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      written[name] += String(text);
      return true;
    });
  const spies = [catchInto(process.stdout, 'out'), catchInto(process.stderr, 'err')];
  try {
    return { code: await runProgram(args, '1.2.3'), ...written };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

async function sweep(...args: readonly string[]): Promise<Ended> {
  const output = ['--output', join(folder, 'reports'), '--quiet'];
  return await fencepost('run', scenario, '--seeds', '60', '--workers', '0', ...output, ...args);
}

function written(name: string): string {
  return readFileSync(join(folder, 'reports', name), 'utf8');
}

test('if a plan cannot be written, all other results are still reported', async () => {
  const plan = join(folder, 'reports/small-unfenced-fence-monotone.yaml');
  mkdirSync(plan, { recursive: true });
  const { code, out, err } = await sweep();
  expect(out).toContain('Stale write accepted by `unfenced`');
  expect(out).toMatch(/✗ failed on \d+ seeds: 1 of 2 expectations met/);
  expect(written('small.html')).toContain('Stale write');
  expect(written('small-wanted-fence-monotone.yaml')).toContain('faults:');
  expect(err).toContain(`${plan}:1:1: not written: this is a directory`);
  expect(code).toBe(2);
});

describe('run --reporter', () => {
  test('writes a file for each named reporter, and none for others', async () => {
    const { code, out } = await sweep('--reporter', 'junit,json,mermaid');
    expect(code).toBe(1);
    expect(out).toBe('');
    const { errors } = await validateXML({
      xml: { fileName: 'junit.xml', contents: written('junit.xml') },
      schema: junitSchema,
    });
    expect(errors).toEqual([]);
    expect(written('junit.xml')).toContain('tests="2" failures="1" errors="0" skipped="0"');
    expect(written('junit.xml')).toContain('name="fencepost.version" value="1.2.3"');
    const report: unknown = outputLine.parse(JSON.parse(written('report.json')));
    expect(report).toMatchObject({
      type: 'report',
      summary: { exit: 1, scenarios: [{ name: 'small' }] },
      findings: [{ system: 'unfenced' }, { system: 'wanted' }],
    });
    expect(written('small-unfenced-fence-monotone.mmd')).toMatch(/^sequenceDiagram\n/);
    expect(existsSync(join(folder, 'reports/small.html'))).toBe(false);
  });

  test('annotates the line of the system, and adds to the step summary', async () => {
    const steps = join(folder, 'steps.md');
    writeFileSync(steps, 'before\n');
    vi.stubEnv('GITHUB_STEP_SUMMARY', steps);
    const { out } = await sweep('--reporter', 'github');
    const lines = out.trim().split('\n');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^::error file=small.yaml,line=3,title=small%2C unfenced%3A fence/);
    const summary = readFileSync(steps, 'utf8');
    expect(summary).toMatch(/^before\n## fencepost: 1 of 2 expectations met, 1 not met\n/);
    expect(summary.match(/```mermaid/g)).toHaveLength(2);
  });

  test('does not change a step summary that is full', async () => {
    const steps = join(folder, 'steps.md');
    writeFileSync(steps, ' '.repeat(1024 * 1024 - 5));
    vi.stubEnv('GITHUB_STEP_SUMMARY', steps);
    await sweep('--reporter', 'github');
    expect(statSync(steps).size).toBe(1024 * 1024 - 5);
  });

  test('reserves stdout for JSON with --json', async () => {
    const { out, err } = await sweep('--reporter', 'github', '--json');
    const lines = out.trim().split('\n');
    for (const line of lines) expect(() => outputLine.parse(JSON.parse(line))).not.toThrow();
    expect(lines).toHaveLength(3);
    expect(err).toMatch(/^::error /);
  });

  test('detects GitHub by its environment', async () => {
    expect(defaultReporters({ GITHUB_ACTIONS: 'true' })).toBe('text,html,github');
    expect(defaultReporters({})).toBe('text,html');
    vi.stubEnv('GITHUB_ACTIONS', 'true');
    const { out } = await sweep();
    expect(out).toContain('\n::error file=small.yaml');
    expect(written('small.html')).toContain('<svg');
  });

  test('refuses an unknown reporter, with a suggestion', async () => {
    const { code, err } = await sweep('--reporter', 'text,junti');
    expect(code).toBe(2);
    expect(err).toContain('unknown reporter "junti"; did you mean "junit"?; known: text, html,');
  });

  test('lists the file of each reporter in the help', async () => {
    const { out } = await fencepost('run', '--help');
    const help = out.replace(/\s+/g, ' ');
    for (const name of [
      'junit.xml',
      'report.json',
      '$GITHUB_STEP_SUMMARY',
      '<counterexample>.mmd',
    ]) {
      expect(help).toContain(name);
    }
  });
});

describe('show', () => {
  test('draws the breach of a plan or of a seed', async () => {
    await sweep('--reporter', 'mermaid');
    const plan = join(folder, 'reports/small-unfenced-fence-monotone.yaml');
    const { out } = await fencepost('show', plan, '--format', 'mermaid');
    const rows = (text: string): string[] => text.split('\n').slice(2);
    expect(out).toContain('✗ stale write#58; fence-monotone breaks');
    expect(rows(out)).toEqual(rows(written('small-unfenced-fence-monotone.mmd')));
    const seed = await fencepost('show', scenario, '--seed', '1', '--format', 'mermaid');
    expect(seed.out).toMatch(/^sequenceDiagram\n {2}title /);
    expect((await fencepost('show', plan, '--format', 'mermaid', '--json')).code).toBe(2);
  });

  test('writes lines that fit the schema, as does list', async () => {
    const shown = await fencepost('show', scenario, '--json');
    const listed = await fencepost('list', '--json');
    const lines = `${shown.out}${listed.out}`.trim().split('\n');
    const types = lines.map((line) => {
      const read: { type?: unknown } = JSON.parse(line);
      expect(() => outputLine.parse(read), line).not.toThrow();
      return read.type;
    });
    expect(new Set(types)).toEqual(new Set(['event', 'show', 'list']));
  });
});

describe('several scenarios', () => {
  const run = (...args: readonly string[]): Promise<Ended> =>
    fencepost('run', ...args, '--seeds', '30', '--workers', '0', '--output', join(folder, 'out'));
  const other = (): string => join(folder, 'other.yaml');
  const textIn = (file: string): string => readFileSync(join(folder, 'out', file), 'utf8');

  beforeEach(() => {
    const met = SCENARIO.replace('name: small', 'name: other').replace(
      / {2}unfenced:[\s\S]*?(?= {2}wanted)/,
      '',
    );
    writeFileSync(other(), met);
  });

  test('have an index with failures that are new, known and fixed since a baseline', async () => {
    await run(scenario, other(), '--reporter', 'html,json');
    expect(textIn('index.html')).toContain('href="./other.html"');
    const before = join(folder, 'before.json');
    writeFileSync(before, textIn('report.json'));
    const again = await run(scenario, other(), '--reporter', 'text,html', '--baseline', before);
    expect(again.out).toMatch(
      /Since the earlier run: 0 new counterexamples, \d known, 0 fixed\.\n/,
    );
    expect(textIn('index.html')).toContain('>known<');
    writeFileSync(scenario, SCENARIO.replaceAll('store: unfenced', 'store: fenced'));
    const mended = await run(scenario, other(), '--reporter', 'text', '--baseline', before);
    expect(mended.out).toMatch(/0 new counterexamples, 1 known, [12] fixed\./);
    writeFileSync(before, '{}');
    const bad = await run(scenario, '--baseline', before);
    expect([bad.code, bad.err]).toEqual([
      2,
      expect.stringContaining('before.json:1:1: not a report.json'),
    ]);
  });

  test('that failed run again, without the others, with --last-failed', async () => {
    const first = await run(other(), scenario, '--reporter', 'text');
    expect(first.code).toBe(1);
    const second = await run(other(), scenario, '--reporter', 'text', '--last-failed');
    expect(second.code).toBe(1);
    expect(second.out).toContain('small');
    expect(second.out).not.toContain('other:');
    writeFileSync(
      scenario,
      SCENARIO.replace('holds: [fence-monotone]', 'breaks: [fence-monotone]'),
    );
    expect((await run(other(), scenario, '--last-failed')).code).toBe(0);
    const none = await run(other(), scenario, '--last-failed');
    expect([none.code, none.out]).toEqual([0, 'no scenario to run: none failed in the last run\n']);
  });
});
