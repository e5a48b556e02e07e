/**
 * Finds shipped scenarios and kept plans by name, as in `run six-steps`. An existing file of that
 * name takes precedence. Nothing is written to the package folder: plans of a shipped scenario are
 * kept in the user's project.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DescribedWord } from '../scenario/json-schema.ts';
import { suggest } from '../text/problem.ts';
import { UserError } from './exit.ts';

/** The default folder for kept plans. */
export const PLANS = 'plans';

/** Names of scenarios and plans contain neither slashes nor a file extension. */
const NAME = /^[\p{L}\p{N}_-]+$/u;

/**
 * Converts a path to slashes, as in scenarios, plans and reports. On Windows, Node also accepts
 * slashes.
 */
export function slashed(path: string, separator: string = sep): string {
  return separator === '\\' ? path.replaceAll(separator, '/') : path;
}

/** Returns `typed` if it exists or is not a name, else the shipped file of that name. */
export function fileMeant(typed: string): string {
  const file = slashed(typed);
  if (file === '-' || !NAME.test(file) || isFile(file)) return file;
  const folders = [scenarios(), join(scenarios(), PLANS)];
  const found = folders.map((folder) => join(folder, `${file}.yaml`)).find(isFile);
  if (found !== undefined) return shortest(found);
  // Not a file: the code that reads it reports the problem.
  if (isThere(file)) return file;
  const hint = suggest(file, folders.flatMap(namesIn));
  const problem = 'no such file, and no scenario or plan of that name';
  throw new UserError([`${file}:1:1: ${problem}${hint}`]);
}

/** Returns the scenarios in the package, each with the comment at the top of its file. */
export function shippedScenarios(): readonly DescribedWord[] {
  return namesIn(scenarios()).map((name) => {
    const text = readFileSync(join(scenarios(), `${name}.yaml`), 'utf8');
    const [comment = ''] = /^(?:# .*\n)+/.exec(text) ?? [];
    return { name, about: comment.replaceAll(/^# /gm, '').trim().replaceAll('\n', ' ') };
  });
}

/**
 * Returns the folder for kept plans: beside the scenario, or `./plans` if the scenario is in an
 * installed package.
 */
export function plansFolderOf(scenarioFile: string): string {
  return isInstalled(scenarioFile) ? PLANS : join(dirname(scenarioFile), PLANS);
}

/**
 * Returns the folders of a scenario's kept plans: beside the scenario, and in the user's project.
 */
export function plansFoldersOf(scenarioFile: string): readonly string[] {
  const beside = join(dirname(scenarioFile), PLANS);
  return [...new Set([beside, plansFolderOf(scenarioFile)])];
}

/** Returns the name of a scenario if the name resolves to this file, else the file. */
export function scenarioTyped(file: string): string {
  const name = basename(file, '.yaml');
  const isNamed =
    NAME.test(name) && !isFile(name) && file === shortest(join(scenarios(), `${name}.yaml`));
  return isNamed ? name : file;
}

/** Returns the folder of this package: the parent of `src` or `dist`. */
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

/** Returns false if the path cannot be accessed. The code that reads it reports the reason. */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Returns true if the path exists, even if it cannot be accessed. */
function isThere(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ENOENT');
  }
}

/** Returns the path as a user would type it: relative if it is below the working directory. */
function shortest(path: string): string {
  const here = process.cwd();
  return isBelow(path, here) ? slashed(relative(here, path)) : path;
}

/** Returns true if a file belongs to an installed package instead of the current project. */
function isInstalled(file: string): boolean {
  const path = resolve(file);
  if (path.split(sep).includes('node_modules')) return true;
  return isBelow(path, packageRoot()) && !isBelow(path, process.cwd());
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(`${folder}${sep}`);
}
