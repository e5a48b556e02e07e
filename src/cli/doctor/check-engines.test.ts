import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkSql, checkThreads } from './check-engines.ts';
import { checkFolder } from './check-folder.ts';
import { checkTerminal } from './check-terminal.ts';

describe('worker threads', () => {
  test('start here', async () => {
    expect(await checkThreads(64)).toMatchObject({ name: 'threads', status: 'ok' });
  });

  test('that fail, end without a word, hang or share nothing are a problem', async () => {
    const whatOf = async (program: string): Promise<string> => {
      const { status, what } = await checkThreads(64, program, 500);
      return `${status}: ${what}`;
    };
    expect(await whatOf('throw new Error("no threads for you")')).toMatch(/^problem: .*for you/);
    expect(await whatOf('')).toMatch(/^problem: .*without a word/);
    expect(await whatOf('setInterval(() => {}, 1000)')).toMatch(/^problem: .*0\.5 s/);
    const unshared = 'require("node:worker_threads").parentPort.postMessage(1)';
    expect(await whatOf(unshared)).toMatch(/^problem: .*shares no memory/);
  });
});

test('SQLite loads here', async () => {
  expect(await checkSql()).toMatchObject({ name: 'sql', status: 'ok' });
});

test('a folder takes files, and nothing is left in it; one that is not there is a problem', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fencepost-'));
  try {
    const { check, fileMs } = checkFolder('folder', folder, 'or another');
    expect(check.status).toBe('ok');
    expect(Math.abs((fileMs ?? 0) - Date.now())).toBeLessThan(60_000);
    expect(readdirSync(folder)).toEqual([]);
    const missing = checkFolder('folder', join(folder, 'none'), 'or another');
    expect(missing).toMatchObject({ check: { status: 'problem' }, fileMs: null });
    mkdirSync(join(folder, `.fencepost-doctor-${process.pid}.tmp`));
    expect(checkFolder('folder', folder, 'or another').check.status).toBe('problem');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a terminal says why it is without colour, and is told when it is too narrow', () => {
  const wide = { isTerminal: true, hasColour: false, width: 100, env: { NO_COLOR: '1', CI: '' } };
  expect(checkTerminal(wide).what).toBe('a terminal of 100 columns, without colour (NO_COLOR=1)');
  expect(checkTerminal({ ...wide, width: 40 }).status).toBe('warning');
  expect(checkTerminal({ ...wide, width: 40, isTerminal: false }).status).toBe('ok');
});
