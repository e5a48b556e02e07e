/** Tests reading an existing journal, and the text that remains in its file. */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { countsOf } from '../search/sweep/counts.fixture.ts';
import type { JournalHead } from '../search/sweep/journal.ts';
import { UserError } from './exit.ts';
import { Journal, openJournal } from './journal-file.ts';

const head: JournalHead = {
  origin: { fencepost: '1.2.3', scenario: 'zombie', digest: 'sha256:00', modules: {} },
  range: { from: 0, to: 99 },
  shard: null,
};

let folder = '';
let file = '';
const said: string[] = [];
const terminal = {
  note: (line: string) => said.push(line),
  warn: (line: string) => said.push(line),
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'journal-'));
  file = join(folder, 'zombie.journal');
  said.length = 0;
});

afterEach(() => rmSync(folder, { recursive: true }));

/** Begins a journal with chunks of ten seeds of a system. Returns its text. */
async function begin(system: string, chunks: number): Promise<string> {
  const journal = openJournal(file, head, { isResumed: false, terminal });
  for (let at = 0; at < chunks; at += 1) {
    const range = { from: 10 * at, to: 10 * at + 9 };
    journal.add({ system, skip: [], ...range }, await countsOf(range));
  }
  journal.close();
  return readFileSync(file, 'utf8');
}

/** Resumes the journal. Returns the first seeds of its chunks. */
function resume(): readonly number[] {
  const journal = openJournal(file, head, { isResumed: true, terminal });
  journal.close();
  return journal.finished.map(({ from }) => from);
}

test('a truncated line, even within a character, is reported and removed', async () => {
  const text = await begin('ü', 2);
  appendFileSync(file, Buffer.from('{"system":"ü').subarray(0, -1));
  expect(resume()).toEqual([0, 10]);
  expect(said).toContain(`warning: ${file}: truncated last line; its seeds run again`);
  expect(readFileSync(file, 'utf8')).toBe(text);
});

test('a journal reads the same, wherever its text is split', async () => {
  const text = await begin('ü'.repeat(700_001), 3);
  expect(resume()).toEqual([0, 10, 20]);
  expect(readFileSync(file, 'utf8')).toBe(text);
});

test('a journal that exceeds the size of a string is read line by line', async () => {
  await begin('a', 1);
  appendFileSync(file, 'no chunk\n');
  truncateSync(file, 600_000_000);
  const damaged = new UserError([
    `${file}:3:1: journal is damaged: incomplete JSON; omit --resume to restart`,
  ]);
  expect(resume).toThrow(damaged);
});

test('a journal with very many chunks can be continued', async () => {
  await begin('a', 1);
  const range = { from: 0, to: 9 };
  const chunk = { system: 'a', ...range, counts: await countsOf(range), milliseconds: 7 };
  const many = Array.from({ length: 500_000 }, () => chunk);
  const journal = new Journal(file, many, terminal);
  journal.close();
  expect(journal.milliseconds).toBe(7);
});

test('a journal that is not writable is a user error', () => {
  const lost = join(folder, 'gone', 'zombie.journal');
  const open = (): Journal => new Journal(lost, [], terminal);
  expect(open).toThrow(new UserError([`${lost}:1:1: cannot be written: there is no such file`]));
});

test('a journal that is not resumed is restarted', async () => {
  await begin('a', 2);
  await begin('a', 0);
  expect(resume()).toEqual([]);
});

test('a journal without a first line is restarted, with a note', async () => {
  const text = await begin('a', 0);
  truncateSync(file, 0);
  expect(resume()).toEqual([]);
  expect(said).toEqual([`  resume: ${file} is empty; running all seeds`]);
  expect(readFileSync(file, 'utf8')).toBe(text);
});

test('chunks of a restarted system are removed, and later chunks are appended', async () => {
  const range = { from: 0, to: 9 };
  const counts = await countsOf(range);
  const journal = openJournal(file, head, { isResumed: false, terminal });
  for (const system of ['kept', 'anew', 'kept']) {
    const from = system === 'anew' ? 50 : 10 * readFileSync(file, 'utf8').split('\n').length;
    journal.add({ system, skip: [], from, to: from + 9 }, counts);
  }
  journal.forget('anew');
  expect(readFileSync(file, 'utf8')).not.toContain('"anew"');
  journal.add({ system: 'anew', skip: [], from: 70, to: 79 }, counts);
  journal.close();
  expect(resume()).toEqual([20, 40, 70]);
  expect(said.filter((line) => line.startsWith('warning'))).toEqual([]);
});

test('a journal that is a link is not resumed', async () => {
  const text = await begin('a', 2);
  const target = join(folder, 'target');
  writeFileSync(target, text);
  rmSync(file);
  symlinkSync(target, file);
  expect(() => openJournal(file, head, { isResumed: true, terminal })).toThrow('symbolic link');
  expect(readFileSync(target, 'utf8')).toBe(text);
});

/** Runs with a disk of 64 KiB at this folder. Returns false if none can be mounted. */
async function onSmallDisk(mounted: string, run: () => Promise<void>): Promise<boolean> {
  mkdirSync(mounted);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', mounted], { stdio: 'ignore' });
  } catch {
    return false;
  }
  try {
    await run();
  } finally {
    execFileSync('umount', [mounted]);
  }
  return true;
}

test('on a full disk, a journal has no partial line', async (context) => {
  const disk = join(folder, 'disk');
  const isMounted = await onSmallDisk(disk, async () => {
    file = join(disk, 'zombie.journal');
    const journal = openJournal(file, head, { isResumed: false, terminal });
    for (let at = 0; at < 100 && said.length === 0; at += 1) {
      journal.add({ system: 's', skip: [], from: at, to: at }, await countsOf({ from: 0, to: 99 }));
    }
    journal.close();
    expect(said).toEqual([expect.stringMatching(/the disk is full; --resume will miss some$/)]);
    expect(readFileSync(file, 'utf8')).toMatch(/\n$/);
  });
  if (!isMounted) context.skip();
});
