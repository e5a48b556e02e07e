/** Tries to write into a folder. */
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Check, messageOf, ok, problem } from './check.ts';

export interface FolderLook {
  readonly check: Check;
  /** When the file system says that the file was written; null where none could be. */
  readonly fileMs: number | null;
}

/** Writes a small file and takes it away again; `use` is what the folder is for. */
export function checkFolder(name: string, folder: string, use: string): FolderLook {
  const file = join(folder, `.fencepost-doctor-${process.pid}.tmp`);
  try {
    writeFileSync(file, 'x', { flag: 'wx' });
    const { mtimeMs, size } = statSync(file);
    rmSync(file);
    if (size !== 1) throw new Error('what was written is not there');
    return { check: ok(name, `${folder} takes new files`), fileMs: mtimeMs };
  } catch (error) {
    const what = `${folder} takes no new files: ${messageOf(error)}`;
    return { check: problem(name, what, `choose a folder that does, ${use}`), fileMs: null };
  }
}
