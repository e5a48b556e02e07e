/**
 * What tests write into the temporary folder goes when they are done, also what one that failed or
 * was killed left there: during a run it is a folder in the real one. What was installed from npm
 * stays beside it, for the next run.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const PREFIX = 'fencepost-tests-';

/** Before any worker starts: workers, and what they start, take it from the environment. */
export function setup(): () => void {
  const whole = tmpdir();
  // Each project of the configuration asks for this anew; one folder is enough for all.
  if (basename(whole).startsWith(PREFIX)) return () => undefined;
  const folder = mkdtempSync(join(whole, PREFIX));
  // A server that refuses to be root's, as PostgreSQL's does, has its folder in here.
  chmodSync(folder, 0o711);
  process.env['FENCEPOST_PACKAGES'] ??= join(whole, 'fencepost-packages');
  process.env['TMPDIR'] = folder;
  return () => {
    process.env['TMPDIR'] = whole;
    rmSync(folder, { recursive: true, force: true });
  };
}
