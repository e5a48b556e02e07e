/**
 * Finds the scenarios and kept plans that ship with fencepost by name: `run six-steps` works in an
 * install as it does here. A file of that name wins. The package's own folder is only read: what is
 * kept of such a scenario belongs into the user's project.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DescribedWord } from '../scenario/json-schema.ts';
import { suggest } from '../text/problem.ts';
import { UserError } from './exit.ts';

/** The folder of kept plans, where nothing else is said. */
export const PLANS = 'plans';

/** Names of scenarios and plans have neither a slash nor an ending. */
const NAME = /^[\p{L}\p{N}_-]+$/u;

/**
 * Returns a path with slashes, as scenarios, plans and reports write it. On Windows, whose paths
 * have backslashes, Node reads these as well.
 */
export function slashed(path: string, separator: string = sep): string {
  return separator === '\\' ? path.replaceAll(separator, '/') : path;
}

/** `typed` itself if it exists or is no name; else the shipped scenario or plan of that name. */
export function fileMeant(typed: string): string {
  const file = slashed(typed);
  if (file === '-' || !NAME.test(file) || isFile(file)) return file;
  const folders = [scenarios(), join(scenarios(), PLANS)];
  const found = folders.map((folder) => join(folder, `${file}.yaml`)).find(isFile);
  if (found !== undefined) return shortest(found);
  // What is there and is no file is refused by whoever reads it, and says what it is.
  if (isThere(file)) return file;
  const hint = suggest(file, folders.flatMap(namesIn));
  const what = 'there is no such file, and fencepost has no scenario or plan of that name';
  throw new UserError([`${file}:1:1: ${what}${hint}`]);
}

/** The scenarios that are in the package, each with the comment that its file begins with. */
export function shippedScenarios(): readonly DescribedWord[] {
  return namesIn(scenarios()).map((name) => {
    const text = readFileSync(join(scenarios(), `${name}.yaml`), 'utf8');
    const [comment = ''] = /^(?:# .*\n)+/.exec(text) ?? [];
    return { name, about: comment.replaceAll(/^# /gm, '').trim().replaceAll('\n', ' ') };
  });
}

/** The folder of kept plans: `plans` beside a scenario, or here if a package brought it. */
export function plansFolderOf(scenarioFile: string): string {
  return isInstalled(scenarioFile) ? PLANS : join(dirname(scenarioFile), PLANS);
}

/** Where kept plans of a scenario may lie: those that came with it, and those kept here. */
export function plansFoldersOf(scenarioFile: string): readonly string[] {
  const beside = join(dirname(scenarioFile), PLANS);
  return [...new Set([beside, plansFolderOf(scenarioFile)])];
}

/** A scenario as one types it: by its name, if that means this file; else by the file. */
export function scenarioTyped(file: string): string {
  const name = basename(file, '.yaml');
  const isNamed =
    NAME.test(name) && !isFile(name) && file === shortest(join(scenarios(), `${name}.yaml`));
  return isNamed ? name : file;
}

/** The folder of this package: above `src`, or above `dist`. */
export function packageRoot(): string {
  return fileURLToPath(new URL('../../', import.meta.url)).replace(/[\\/]$/, '');
}

function scenarios(): string {
  return join(packageRoot(), 'fixtures');
}

function namesIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => name.slice(0, -'.yaml'.length))
    .sort();
}

/** False also where it cannot be looked at: whoever reads it then says why. */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Whether there is anything, if only something that cannot be looked at. */
function isThere(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ENOENT');
  }
}

/** As seen from here where it lies below, so that it can be read and typed. */
function shortest(path: string): string {
  const here = process.cwd();
  return isBelow(path, here) ? slashed(relative(here, path)) : path;
}

/** Whether a file belongs to a package that is used here, and not to the project at hand. */
function isInstalled(file: string): boolean {
  const path = resolve(file);
  if (path.split(sep).includes('node_modules')) return true;
  return isBelow(path, packageRoot()) && !isBelow(path, process.cwd());
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(`${folder}${sep}`);
}
