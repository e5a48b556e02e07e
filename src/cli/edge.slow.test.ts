/** `run --exhaust --edge`, by the built command. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { outputLine } from '../report/output-schema.ts';

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'edge-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** With its end, or with Ctrl-C after a while. */
function run(args: readonly string[], isInterrupted = false): Promise<Ended> {
  const child = spawn('node', [cli, 'run', ...args], { cwd: folder });
  const said = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.err += text;
  });
  if (isInterrupted) setTimeout(() => child.kill('SIGINT'), 2_500);
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code, ...said }));
  });
}

const SMALL = ['--clients', '2', '--sections', '1'];

test('the edge of a checked lease is its ttl: a line, a page, and JSON', async () => {
  const args = ['check-then-act', '--exhaust', '1', ...SMALL, '--edge', 'pause,ttl'];
  const { code, out } = await run([...args, '--json']);
  expect(code).toBe(0);
  const lines: unknown[] = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  for (const line of lines) expect(() => outputLine.parse(line)).not.toThrow();
  expect(lines[0]).toMatchObject({ system: 'unfenced', formula: 'pause > ttl' });
  expect(lines.at(-1)).toMatchObject({ system: 'fenced', formula: null, nearest: null });
  const page = readFileSync(join(folder, 'reports/check-then-act-edge.html'), 'utf8');
  expect(page).toContain('breaks iff pause &gt; ttl');
});

test('a search that is interrupted ends with 130 and leaves no file', async () => {
  const args = ['zombie-writer', '--exhaust', '2', ...SMALL, '--edge', 'pause,ttl'];
  const { code, out } = await run([...args, '--output', 'cut'], true);
  expect(code).toBe(130);
  expect(out).toBe('');
  expect(existsSync(join(folder, 'cut')) ? readdirSync(join(folder, 'cut')) : []).toEqual([]);
});

test.each([
  ['pause', '--edge pause: expected a fault and a parameter, e.g. pause,ttl'],
  ['pausee,ttl', 'unknown fault "pausee"; did you mean "pause"?'],
  ['pause,skew', 'unknown parameter "skew"; known: ttl, latency'],
  ['partition,ttl', 'zombie-writer.yaml:1:1 faults: --edge asks about partition'],
])('--edge %s is refused', async (edge, what) => {
  const { code, err } = await run(['zombie-writer', '--exhaust', '1', '--edge', edge]);
  expect(err).toContain(what);
  expect(code).toBe(2);
});

test.each([
  [['--edge', 'pause,ttl'], '--edge: is about what --exhaust examines'],
  [['--exhaust', '1', '--edge', 'pause,ttl', '--shard', '1/2'], '--shard: is not for --edge'],
  [['--exhaust', '2', '--edge', 'pause,ttl'], 'more than 1,000,000 plans at one point of the map'],
])('%j is refused', async (args, what) => {
  const { code, err } = await run(['zombie-writer', ...args]);
  expect(err).toContain(what);
  expect(code).toBe(2);
});
