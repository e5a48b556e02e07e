/** Where a test stands and what it is called: in a stack, in a command, in the names of files. */

import { basename, dirname, join, relative } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

export interface TestPlace {
  /** The absolute path of its file. */
  readonly file: string;
  /** As it was given. */
  readonly name: string;
  /** The same behind the names of the groups that it stands in. */
  readonly fullName: string;
}

/** The line of a stack that called `callee`. */
export function callSiteOf(callee: (...args: never[]) => unknown): string {
  const holder: { stack?: string } = {};
  Error.captureStackTrace(holder, callee);
  return (holder.stack ?? '').split('\n').find((line) => /^\s+at /.test(line)) ?? '';
}

/** A path as one types it. */
export function typedPath(file: string): string {
  return relative(process.cwd(), file).replaceAll('\\', '/');
}

/** `FENCEPOST_SEED=17 npx vitest run src/lock.test.ts -t 'the name'`, as words. */
export function commandWith(setting: string, { file, name }: TestPlace): readonly string[] {
  const pattern = name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(/\s/g, ' ');
  return [setting, 'npx', 'vitest', 'run', typedPath(file), '-t', pattern];
}

/** `FENCEPOST_REPLAY=<plan> npx vitest run src/lock.test.ts`: other tests leave it out. */
export function replayCommandOf(planFile: string, { file }: TestPlace): readonly string[] {
  return [`FENCEPOST_REPLAY=${typedPath(planFile)}`, 'npx', 'vitest', 'run', typedPath(file)];
}

/** The folder of the plans that were kept of the tests of a file. */
export function corpusFolderOf({ file }: TestPlace): string {
  return join(dirname(file), '__fencepost__', basename(file));
}

const LONGEST = 60;

/** The test's full name as the name of a scenario, and the beginning of the names of files. */
export function slugOf({ fullName }: TestPlace): string {
  const words = fullName
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}_.]+/gu, '-')
    .replace(/^[-.]+|[-.]+$/g, '');
  if (words.length <= LONGEST && !/^\d*$/.test(words)) return words;
  const digest = bytesToHex(sha256(utf8ToBytes(fullName))).slice(0, 6);
  return `${words === '' ? 'test' : [...words].slice(0, LONGEST - 7).join('')}-${digest}`;
}
