/**
 * Writes the files of a corpus so that nobody ever sees half of one, and so that two writers never
 * undo each other: whoever is killed leaves the corpus as it was before or as it is after, and at
 * most a hidden file beside it.
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
 * Creates a file that was not there: false where one is by now. The text is written aside and then
 * linked to its name, which takes a name only if it is free.
 */
export function createWhole(file: string, text: string): boolean {
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

/** Codes by which file systems say that they have no hard links. */
const LINKLESS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** Where there are no links: still never over another file, but a kill may leave half of it. */
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
 * `changed`: the file was no longer what the caller had read, and was left alone. `reserved`:
 * somebody else is changing it, or was killed while doing so; `by` is the file that says so.
 */
export type CorpusChange =
  | { readonly kind: 'done' }
  | { readonly kind: 'changed' }
  | { readonly kind: 'reserved'; readonly by: string };

/**
 * Puts `after` in the place of a file that holds `before`; null deletes it. A reservation beside
 * the file keeps others out meanwhile. It is never taken over: who was killed may have been slow.
 */
export function changeWhole(file: string, before: string, after: string | null): CorpusChange {
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

/** `plans/a.yaml` as `plans/.a.yaml.new`, which no reader of a corpus looks at. */
function hiddenBeside(file: string, ending: string): string {
  return join(dirname(file), `.${basename(file)}.${ending}`);
}

/** Writes a whole text and waits until the disk has it; where that fails nothing is left of it. */
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

/** Makes the name of a file as lasting as what is in it, where folders can be synced. */
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

/** As on Windows, and on some network drives. */
const FOLDERS_UNSYNCED: ReadonlySet<string> = new Set(['EISDIR', 'EPERM', 'EACCES', 'EINVAL']);

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
