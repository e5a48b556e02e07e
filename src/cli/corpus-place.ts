/**
 * Locates the folder of kept plans, by the same rule for `run`, `corpus` and `init`: `plans` beside
 * the scenario. `corpus` receives no scenario, so it searches the project for scenarios by name.
 */
import { type Dirent, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { groupDigits } from '../text/prose.ts';
import { UserError } from './exit.ts';
import { fileMeant, PLANS, plansFolderOf } from './shipped.ts';

/** Maximum number of folders to search, at any depth. Outer folders come first. */
const MOST_FOLDERS = 20_000;

/** The scenarios of a project, by name. Scenarios in outer folders take precedence. */
interface Project {
  readonly files: ReadonlyMap<string, string>;
  /** False if there are more folders than the maximum. */
  readonly isComplete: boolean;
}

/** Cache by working directory, since many findings need the same project. */
const known = new Map<string, Project>();

function projectHere(): Project {
  const here = process.cwd();
  const found = known.get(here) ?? lookForScenarios();
  known.set(here, found);
  return found;
}

function lookForScenarios(): Project {
  const files = new Map<string, string>();
  const folders = ['.'];
  // The loop also visits the folders that it appends: a breadth-first search.
  for (const folder of folders) {
    for (const entry of entriesIn(folder)) {
      const path = join(folder, entry.name);
      const isLeftOut = entry.name.startsWith('.') || [PLANS, 'node_modules'].includes(entry.name);
      const isInner = entry.isDirectory() && !isLeftOut;
      if (isInner && folders.push(path) > MOST_FOLDERS) return { files, isComplete: false };
      if (!entry.isFile() || !entry.name.endsWith('.yaml')) continue;
      const name = scenarioNameIn(path);
      if (name !== null && !files.has(name)) files.set(name, path);
    }
  }
  return { files, isComplete: true };
}

function entriesIn(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    // A scenario in an unreadable folder could not be run either.
    return [];
  }
}

function scenarioNameIn(file: string): string | null {
  try {
    const text = readFileSync(file, 'utf8');
    if (!/^systems:/m.test(text)) return null;
    return /^name:[ \t]+["']?([^"'#\n]+?)["']?[ \t]*(?:#.*)?\r?$/m.exec(text)?.[1] ?? null;
  } catch {
    return null;
  }
}

/**
 * Returns the folder for plans of a scenario: `plans` beside it, or `./plans` if no scenario has
 * that name. Throws a `UserError` if the project is too large to search.
 */
export function folderToKeepIn(scenario: string): string {
  const { files, isComplete } = projectHere();
  const file = files.get(scenario) ?? shippedFile(scenario);
  if (file !== null) return plansFolderOf(file);
  if (isComplete) return PLANS;
  const problem = `no scenario ${scenario} in the first ${groupDigits(MOST_FOLDERS)} folders here`;
  throw new UserError([`${problem}: name the folder of its plans with --corpus <folder>`]);
}

function shippedFile(scenario: string): string | null {
  try {
    const file = fileMeant(scenario);
    return file === scenario ? null : file;
  } catch {
    return null;
  }
}

/** Returns all folders with kept plans in the current project, or `./plans` if there are none. */
export function foldersKept(): readonly string[] {
  const folders = [...projectHere().files.values()].map(plansFolderOf);
  const there = [...new Set([...folders, PLANS])].filter((folder) => existsSync(folder));
  return there.length === 0 ? [PLANS] : there;
}
