/**
 * Deletes all that tests write into the temporary folder when they are done, even if one failed or
 * was killed: during a run it is a folder in the real one. Packages from npm stay outside of it,
 * for the next run.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const PREFIX = 'fencepost-tests-';

/** Runs before any worker starts; workers and their children take it from the environment. */
export function setup(): () => void {
  const root = tmpdir();
  // Each project of the configuration calls this; one folder is enough for all.
  if (basename(root).startsWith(PREFIX)) return () => undefined;
  const folder = mkdtempSync(join(root, PREFIX));
  // A server that refuses to run as root, such as PostgreSQL's, has its folder in here.
  chmodSync(folder, 0o711);
  process.env['FENCEPOST_PACKAGES'] ??= join(root, 'fencepost-packages');
  process.env['TMPDIR'] = folder;
  return () => {
    process.env['TMPDIR'] = root;
    rmSync(folder, { recursive: true, force: true });
  };
}
