/**
 * `docs/stability.md` promises nothing that no test holds: each row of its table names one. What
 * it says of names and exit codes is held here.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { EXIT_WORDS, exits, worstOf } from '../../src/cli/exit.ts';
import { loadPlanFile } from '../../src/host/modules/load-files.ts';
import { replay } from '../../src/search/corpus/replay.ts';
import { prepare } from '../../src/systems/store/store-kinds.ts';
import { pageOf } from './pages.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = pageOf('docs/stability.md');
const frozenPlans = join(root, 'fixtures/frozen/plans');

/** The cells of the rows of the table under a heading, or of the first one. */
function rowsUnder(heading: string): readonly (readonly string[])[] {
  const [, part = ''] = heading === '' ? ['', page] : page.split(`## ${heading}\n`);
  const [table = ''] = /(?:^\|.*\n)+/m.exec(part) ?? [];
  const [, , ...rows] = table.trim().split('\n');
  return rows.map((row) => row.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')));
}

test('every promise names a test that there is', () => {
  const rows = rowsUnder('');
  expect(rows.length).toBeGreaterThan(6);
  for (const [promise = '', patch, minor, major, held = ''] of rows) {
    expect([patch, minor, major].every((cell) => cell !== undefined && cell !== '')).toBe(true);
    if (promise.startsWith('Words')) continue;
    const [, title = '', file = ''] = /^\[`(.+)`\]\(\.\.\/(.+)\)$/.exec(held) ?? [];
    const text = readFileSync(join(root, file), 'utf8');
    expect(text, `${promise} is held by ${file}`).toContain(title);
  }
});

test('no name of an earlier plan is lost', async () => {
  const lost: string[] = [];
  const plans = readdirSync(frozenPlans);
  for (const name of plans) {
    const read = await loadPlanFile(join(frozenPlans, name));
    if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
    await prepare([read.plan.system], read.catalogue);
    const { divergedAt } = await replay(read.plan, undefined, read.catalogue);
    if (divergedAt !== null) lost.push(`${name}: ${divergedAt}`);
  }
  expect(plans.length).toBeGreaterThan(100);
  expect(lost).toEqual([]);
});

test('the exit codes are those of the list', () => {
  const listed = rowsUnder('Exit codes').map(([code]) => Number(code));
  expect(listed).toEqual(Object.values(exits).sort((a, b) => a - b));
  const words = rowsUnder('Exit codes').map(([code = '', means]) => [code, means]);
  expect(words).toEqual(Object.entries(EXIT_WORDS));
  const [, order = ''] = /the first of ([\d, ]+) wins/.exec(page.replace(/\n/g, ' ')) ?? [];
  const codes = order.split(', ').map(Number);
  expect(codes).toHaveLength(listed.length - 1);
  const values = Object.values(exits);
  for (const [at, code] of codes.entries()) {
    const rest = values.filter((value) => !codes.slice(0, at).includes(value));
    expect(worstOf(rest)).toBe(code);
  }
});
