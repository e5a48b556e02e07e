// Copies a folder of `fixtures/packages` and installs the packages of its lock file from npm,
// without scripts. Installed packages are kept in the temporary folder, or in `FENCEPOST_PACKAGES`,
// while that lock file is unchanged.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Keeps links of commands relative, so that those of a copy refer to the copy. */
const COPIED = { recursive: true, verbatimSymlinks: true };

/** Copies `from` to the new folder `to` and installs there; returns npm's error output, or null. */
export function installPackage(from, to) {
  const lock = readFileSync(join(from, 'package-lock.json'));
  const hash = createHash('sha256').update(lock).digest('hex').slice(0, 16);
  const packages = process.env.FENCEPOST_PACKAGES ?? join(tmpdir(), 'fencepost-packages');
  const kept = join(packages, hash, 'node_modules');
  const isSource = (path) => !/\/(node_modules|reports)$/.test(path);
  cpSync(from, to, { recursive: true, filter: isSource });
  const modules = join(to, 'node_modules');
  if (existsSync(kept)) {
    cpSync(kept, modules, COPIED);
    return null;
  }
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: to, encoding: 'utf8' });
  if (status !== 0) return stdout + stderr;
  keep(modules, kept);
  return null;
}

/** Renames a copy, so that a process that is killed or second leaves nothing half-written. */
function keep(modules, kept) {
  const copy = `${kept}-${process.pid}`;
  mkdirSync(dirname(kept), { recursive: true });
  cpSync(modules, copy, COPIED);
  try {
    renameSync(copy, kept);
  } catch (error) {
    rmSync(copy, { recursive: true, force: true });
    if (!existsSync(kept)) throw error;
  }
}
