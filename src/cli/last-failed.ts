/** Records in the output folder which scenarios failed in the last run, for `--last-failed`. */
import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { exits } from '../search/campaign/exit-codes.ts';
import type { Concluded } from '../search/campaign/setting.ts';
import { UserError } from './exit.ts';
import { readText, writeText } from './files.ts';

const LAST_FAILED = 'last-failed.json';

/** Returns the files of the scenarios that failed in the last run. Empty if none failed. */
export function lastFailedIn(output: string): readonly string[] {
  const file = join(output, LAST_FAILED);
  if (!existsSync(file)) return [];
  try {
    const read: unknown = JSON.parse(readText(file));
    if (Array.isArray(read) && read.every((name) => typeof name === 'string')) return read;
  } catch (error) {
    if (error instanceof UserError) throw error;
  }
  throw new UserError([`${file}:1:1: not a list of files; delete it`]);
}

/** Records the failed scenarios. The record of a scenario that was not examined stays unchanged. */
export function noteFailed(
  concluded: readonly Concluded[],
  before: readonly string[],
  output: string,
): void {
  const examined = new Set(concluded.map(({ result }) => resolve(result.file)));
  const failed = concluded
    .filter(({ exit }) => exit !== exits.met)
    .map(({ result }) => resolve(result.file));
  const noted = [...before.filter((file) => !examined.has(file)), ...failed];
  const file = join(output, LAST_FAILED);
  if (noted.length > 0) writeText(file, `${JSON.stringify(noted, null, 2)}\n`);
  else rmSync(file, { force: true });
}
