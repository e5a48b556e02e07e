import {
  existsSync,
  lstatSync,
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
import { afterAll, expect, test } from 'vitest';
import { UserError } from './exit.ts';
import { makeFolder, openFolder, systemMessage, writeText } from './files.ts';

const folder = mkdtempSync(join(tmpdir(), 'fencepost-files-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('an opened folder exists, and is left empty', () => {
  const inner = join(folder, 'a/b');
  openFolder(inner);
  expect(readdirSync(inner)).toEqual([]);
});

test('a folder that is a file is refused', () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  expect(() => openFolder(file)).toThrow(UserError);
});

test.skipIf(!existsSync('/proc/self'))('a folder that is not writable is refused', () => {
  expect(() => openFolder('/proc/self')).toThrow('/proc/self:1:1: not writable');
});

test.skipIf(!existsSync('/proc/self'))(
  'a folder that cannot be created is refused without endless retries',
  () => {
    expect(() => makeFolder('/proc/nope/reports')).toThrow(
      '/proc/nope/reports:1:1: folder cannot be created',
    );
    expect(() => writeText('/proc/nope/plan.yaml', '')).toThrow(UserError);
  },
);

test('a link is replaced, not written through, although its folder may be a link', () => {
  const [target, link, real, alias] = ['target', 'link', 'real', 'alias'].map((name) =>
    join(folder, name),
  );
  if (!target || !link || !real || !alias) throw new Error('there are four');
  writeFileSync(target, 'kept');
  symlinkSync(target, link);
  // The predictable name of the temporary file may also be a link.
  symlinkSync(target, `${link}.${process.pid}.tmp`);
  writeText(link, 'new');
  expect([readFileSync(target, 'utf8'), readFileSync(link, 'utf8')]).toEqual(['kept', 'new']);
  expect(lstatSync(link).isSymbolicLink()).toBe(false);
  mkdirSync(real);
  symlinkSync(real, alias);
  writeText(join(alias, 'plan.yaml'), 'new');
  expect(readFileSync(join(real, 'plan.yaml'), 'utf8')).toBe('new');
  expect(lstatSync(alias).isSymbolicLink()).toBe(true);
});

test.skipIf(!existsSync('/dev/null'))('a device is written to', () => {
  writeText('/dev/null', 'gone');
  expect(lstatSync('/dev/null').isCharacterDevice()).toBe(true);
});

test.each([
  ['EROFS', "EROFS: read-only file system, open 'a'", 'its file system is read-only'],
  ['EDQUOT', 'EDQUOT: disk quota exceeded, write', 'disk quota exceeded'],
  ['EIO', 'of another form', 'of another form'],
])('a system error with %s is reported without the call', (code, message, line) => {
  expect(systemMessage(Object.assign(new Error(message), { code }))).toBe(line);
});

test('folders are created with their parents', () => {
  const deep = join(folder, 'a/b/../c');
  makeFolder(deep);
  makeFolder(deep);
  expect(existsSync(join(folder, 'a/c'))).toBe(true);
});
