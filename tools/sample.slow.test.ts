/**
 * Law: regenerating the sample that the README links gives the same files, without machine times.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'fencepost-sample-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function sampleIn(name: string): ReadonlyMap<string, string> {
  const place = join(folder, name);
  const args = [join(root, 'tools/sample.mjs'), place];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  return new Map(readdirSync(place).map((file) => [file, readFileSync(join(place, file), 'utf8')]));
}

test('the sample is the same each time, and each page has at most 320 kB', () => {
  const [one, other] = [sampleIn('one'), sampleIn('other')];
  const names = [...one.keys()].filter((name) => !name.endsWith('.yaml'));
  expect(names).toEqual([
    'index.html',
    'junit.xml',
    'report.json',
    'six-steps.html',
    'token-regression.html',
    'zombie-writer.html',
  ]);
  expect([...other.keys()]).toEqual([...one.keys()]);
  for (const [name, text] of one) {
    expect(text === other.get(name), name).toBe(true);
    expect(text.includes(root), name).toBe(false);
    expect(text.length, name).toBeLessThanOrEqual(320_000);
  }
  const committed = readdirSync(join(root, 'reports/sample')).sort();
  expect(committed).toEqual([...one.keys()].sort());
}, 120_000);
