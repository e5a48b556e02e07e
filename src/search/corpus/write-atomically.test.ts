import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { changeAtomically, createAtomically } from './write-atomically.ts';

interface Disk {
  isFull: boolean;
  /** Another process empties the folder before the disk reports that it is full. */
  isSwept: boolean;
  /** Error code of a failing link, or of a failing sync of a folder; null if it succeeds. */
  link: string | null;
  sync: string | null;
}

const disk = vi.hoisted((): Disk => ({ isFull: false, isSwept: false, link: null, sync: null }));
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const refuse = (code: string, what: string): never => {
    throw Object.assign(new Error(`${code}: ${what}`), { code });
  };
  const writeSync = (descriptor: number, bytes: Buffer, at: number): number => {
    if (!disk.isFull) return fs.writeSync(descriptor, bytes, at);
    if (disk.isSwept) for (const name of fs.readdirSync(folder)) fs.rmSync(join(folder, name));
    return refuse('ENOSPC', 'no space left on device');
  };
  const linkSync = (from: string, to: string): void =>
    disk.link === null ? fs.linkSync(from, to) : refuse(disk.link, 'no link');
  const fsyncSync = (descriptor: number): void => {
    const isFolder = fs.fstatSync(descriptor).isDirectory();
    if (isFolder && disk.sync !== null) refuse(disk.sync, 'no sync');
    fs.fsyncSync(descriptor);
  };
  return { ...fs, writeSync, linkSync, fsyncSync };
});

const folder = mkdtempSync(join(tmpdir(), 'fencepost-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = join(folder, 'plan.yaml');
beforeEach(() => {
  // A repeated test finds the folder removed.
  mkdirSync(folder, { recursive: true });
  Object.assign(disk, { isFull: false, isSwept: false, link: null, sync: null });
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
});

describe('a file is created', () => {
  test('without following a link that has the name of its hidden file', () => {
    const target = join(folder, 'target');
    writeFileSync(target, 'kept');
    symlinkSync(target, join(folder, `.plan.yaml.${process.pid}.tmp`));
    expect(createAtomically(file, 'a: 1\n')).toBe(true);
    expect([readFileSync(target, 'utf8'), readFileSync(file, 'utf8')]).toEqual(['kept', 'a: 1\n']);
  });

  test('completely, with no file beside it', () => {
    expect(createAtomically(file, 'a: 1\n')).toBe(true);
    expect(readFileSync(file, 'utf8')).toBe('a: 1\n');
    expect(readdirSync(folder)).toEqual(['plan.yaml']);
  });

  test('but never replaces another file', () => {
    writeFileSync(file, 'theirs');
    expect(createAtomically(file, 'ours')).toBe(false);
    expect(readFileSync(file, 'utf8')).toBe('theirs');
    expect(readdirSync(folder)).toEqual(['plan.yaml']);
  });
});

describe('a file is changed', () => {
  test('if its text is still the text that was read, and is deleted for null', () => {
    writeFileSync(file, 'before');
    expect(changeAtomically(file, 'before', 'after')).toEqual({ kind: 'done' });
    expect(readFileSync(file, 'utf8')).toBe('after');
    expect(changeAtomically(file, 'after', null)).toEqual({ kind: 'done' });
    expect(readdirSync(folder)).toEqual([]);
  });

  test.each(['ours', null])('to %s, but not after another process has changed it', (after) => {
    writeFileSync(file, 'theirs');
    expect(changeAtomically(file, 'before', after)).toEqual({ kind: 'changed' });
    expect(readFileSync(file, 'utf8')).toBe('theirs');
    rmSync(file);
    expect(changeAtomically(file, 'before', after)).toEqual({ kind: 'changed' });
    expect(existsSync(file)).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
  });

  test.each(['ours', null])('to %s, but not while another process changes it', (after) => {
    writeFileSync(file, 'before');
    const by = join(folder, '.plan.yaml.new');
    writeFileSync(by, 'half of');
    expect(changeAtomically(file, 'before', after)).toEqual({ kind: 'reserved', by });
    expect(readFileSync(file, 'utf8')).toBe('before');
    expect(readFileSync(by, 'utf8')).toBe('half of');
  });
});

describe('a full disk', () => {
  test('leaves no part of a created file', () => {
    disk.isFull = true;
    expect(() => createAtomically(file, 'a: 1\n')).toThrow('no space left');
    expect(readdirSync(folder)).toEqual([]);
  });

  test('is reported even if another process has removed the partial file', () => {
    Object.assign(disk, { isFull: true, isSwept: true });
    expect(() => createAtomically(file, 'a: 1\n')).toThrow('no space left');
  });

  test('leaves a changed file as it was, and free to be changed', () => {
    writeFileSync(file, 'before');
    disk.isFull = true;
    expect(() => changeAtomically(file, 'before', 'after')).toThrow('no space left');
    expect(readdirSync(folder)).toEqual(['plan.yaml']);
    disk.isFull = false;
    expect(changeAtomically(file, 'before', 'after')).toEqual({ kind: 'done' });
  });
});

describe('on a disk without links', () => {
  test.each(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])(
    '%s: a file is created completely',
    (link) => {
      Object.assign(disk, { link });
      expect(createAtomically(file, 'a: 1\n')).toBe(true);
      expect(readFileSync(file, 'utf8')).toBe('a: 1\n');
      expect(createAtomically(file, 'a: 2\n')).toBe(false);
      expect(readFileSync(file, 'utf8')).toBe('a: 1\n');
      expect(readdirSync(folder)).toEqual(['plan.yaml']);
    },
  );

  test('a missing folder is reported', () => {
    Object.assign(disk, { link: 'EPERM' });
    expect(() => createAtomically(join(folder, 'none', 'plan.yaml'), '')).toThrow('ENOENT');
  });
});

test('a disk that fails to link for another reason is reported, and keeps nothing', () => {
  Object.assign(disk, { link: 'EIO' });
  expect(() => createAtomically(file, 'a: 1\n')).toThrow('EIO: no link');
  expect(readdirSync(folder)).toEqual([]);
});

test('a folder that cannot be synced is accepted, unless the disk is broken', () => {
  for (const sync of ['EISDIR', 'EPERM', 'EACCES', 'EINVAL']) {
    Object.assign(disk, { sync });
    expect(createAtomically(join(folder, sync), '')).toBe(true);
    expect(changeAtomically(join(folder, sync), '', 'a')).toEqual({ kind: 'done' });
  }
  Object.assign(disk, { sync: 'EIO' });
  expect(() => createAtomically(file, 'a: 1\n')).toThrow('EIO: no sync');
});

test('a change fails if no file can be reserved beside it', () => {
  expect(() => changeAtomically(join(folder, 'none', 'plan.yaml'), '', 'a')).toThrow('ENOENT');
});
