/**
 * Writes corpus files atomically. A reader never sees a partial file, and two writers never
 * overwrite each other's changes. A killed writer may leave only a hidden file behind.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * Creates a new file. Returns false if the file already exists. Writes the text to a temporary
 * file, then links it to its name, which fails if the name is taken.
 */
export function createAtomically(file: string, text: string): boolean {
  const aside = hiddenBeside(file, `${process.pid}.tmp`);
  rmSync(aside, { force: true });
  writeSynced(aside, text, 'wx');
  try {
    linkSync(aside, file);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    if (!LINKLESS.has(codeOf(error))) throw error;
    return createInPlace(file, text);
  } finally {
    rmSync(aside, { force: true });
  }
  syncFolder(dirname(file));
  return true;
}

/** Error codes of file systems without hard links. */
const LINKLESS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** Fallback without hard links. Never overwrites a file, but may leave a partial file if killed. */
function createInPlace(file: string, text: string): boolean {
  try {
    writeSynced(file, text, 'wx');
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/**
 * `changed`: the file no longer matches the text that the caller read, so nothing was written.
 * `reserved`: the reservation file `by` exists. Its writer may still be working or may have been
 * killed.
 */
export type CorpusChange =
  | { readonly kind: 'done' }
  | { readonly kind: 'changed' }
  | { readonly kind: 'reserved'; readonly by: string };

/**
 * Replaces the text `before` of a file with `after`, or deletes the file if `after` is null. A
 * reservation file excludes other writers. A stale reservation is never taken over, since its
 * writer may be slow rather than dead.
 */
export function changeAtomically(file: string, before: string, after: string | null): CorpusChange {
  const reservation = hiddenBeside(file, 'new');
  try {
    writeSynced(reservation, after ?? '', 'wx');
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return { kind: 'reserved', by: reservation };
    throw error;
  }
  let isHeld = true;
  try {
    if (!existsSync(file) || readFileSync(file, 'utf8') !== before) return { kind: 'changed' };
    if (after === null) rmSync(file);
    else {
      renameSync(reservation, file);
      isHeld = false;
    }
    syncFolder(dirname(file));
    return { kind: 'done' };
  } finally {
    if (isHeld) rmSync(reservation, { force: true });
  }
}

/** Returns `plans/.a.yaml.new` for `plans/a.yaml`. Corpus readers ignore such files. */
function hiddenBeside(file: string, ending: string): string {
  return join(dirname(file), `.${basename(file)}.${ending}`);
}

function writeSynced(file: string, text: string, flags: 'w' | 'wx'): void {
  const descriptor = openSync(file, flags);
  try {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
    fsyncSync(descriptor);
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** Makes the name of a file as durable as its contents, if folders can be synced. */
function syncFolder(folder: string): void {
  try {
    const descriptor = openSync(folder, 'r');
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (!FOLDERS_UNSYNCED.has(codeOf(error))) throw error;
  }
}

/** Error codes of platforms that cannot sync folders, such as Windows and some network drives. */
const FOLDERS_UNSYNCED: ReadonlySet<string> = new Set(['EISDIR', 'EPERM', 'EACCES', 'EINVAL']);

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
