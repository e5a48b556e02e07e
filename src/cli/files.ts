/**
 * All file access on behalf of users goes through this module, for clear error messages and atomic
 * writes. `sources.ts` parses the contents.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { UserError } from './exit.ts';

/** Larger files are refused before they are read. */
const MOST_BYTES = 1_000_000;

/** Reads a file of at most `mostBytes`; `-` is standard input. */
export function readText(file: string, mostBytes: number = MOST_BYTES): string {
  if (file === '-') return readFileSync(0, 'utf8');
  const refuse = (problem: string): never => {
    throw new UserError([`${file}:1:1: ${problem}`]);
  };
  const stat = allowed(`${file}:1:1`, () => statSync(file));
  if (stat.isDirectory()) refuse('this is a directory; name a file in it');
  if (!stat.isFile()) refuse('this is not a regular file');
  if (stat.size > mostBytes) {
    refuse(`the file has ${stat.size} bytes; at most ${mostBytes} are read`);
  }
  return allowed(`${file}:1:1`, () => readFileSync(file, 'utf8'));
}

/**
 * Writes a file atomically and creates its parent folders. A symbolic link is replaced, not
 * followed, since it may point anywhere; parent folders may be links. A pipe or a device is written
 * to directly.
 */
export function writeText(file: string, text: string): void {
  try {
    makeFolder(dirname(file));
    const isFile = statSync(file, { throwIfNoEntry: false })?.isFile() ?? true;
    if (isFile && !/^\/(?:dev|proc)\//.test(resolve(file))) writeAtomically(file, text);
    else writeFileSync(file, text);
  } catch (error) {
    if (error instanceof UserError) throw error;
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const why = isMissing ? 'its folder is not writable' : systemMessage(error);
    throw new UserError([`${file}:1:1: not written: ${why}`]);
  }
}

/** Returns the result of `act`, or throws a `UserError` with `failed` and the reason. */
export function allowed<T>(failed: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw new UserError([`${failed}: ${systemMessage(error)}`]);
  }
}

/** Replaces the old file by a rename, so that no reader sees a partial file. */
function writeAtomically(file: string, text: string): void {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    rmSync(temporary, { force: true });
    writeFileSync(temporary, text, { flag: 'wx' });
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Creates a folder and its parents if they do not exist. */
export function makeFolder(folder: string): void {
  allowed(`${folder}:1:1: folder cannot be created`, () => makeWithAbove(resolve(folder)));
}

/**
 * Creates a folder and its parents. Node's `recursive` option hangs below folders such as `/proc`.
 */
function makeWithAbove(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return;
  if (dirname(folder) !== folder) makeWithAbove(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process may have created it meanwhile.
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}

/** Creates a folder and checks that it is writable, to report a problem before any work is done. */
export function openFolder(folder: string): void {
  makeFolder(folder);
  const probe = join(folder, `.fencepost-${process.pid}.tmp`);
  allowed(`${folder}:1:1: not writable`, () => {
    writeFileSync(probe, '');
    rmSync(probe);
  });
}

/** Returns the names in a folder, sorted. Empty if the folder does not exist. */
export function listFolder(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return allowed(`${folder}:1:1: cannot be read as a folder`, () => readdirSync(folder).sort());
}

const MESSAGES: ReadonlyMap<unknown, string> = new Map([
  ['ENOENT', 'there is no such file'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['EISDIR', 'this is a directory; name a file in it'],
  ['ENOTDIR', 'a part of the path is not a directory'],
  ['EEXIST', 'a part of the path is not a directory'],
  ['ELOOP', 'its links form a cycle'],
  ['ENOSPC', 'the disk is full'],
  ['EROFS', 'its file system is read-only'],
]);

/** Returns a message for a file system error; for unknown codes, Node's message. */
export function systemMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const known = 'code' in error ? MESSAGES.get(error.code) : undefined;
  return known ?? error.message.replace(/^E[A-Z\d]+: ([^,]+), [\s\S]*$/, '$1');
}
