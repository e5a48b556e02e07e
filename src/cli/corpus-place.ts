/**
 * Where plans are kept, by one rule for `run`, `corpus` and `init`: in `plans` beside the scenario
 * that they are of. `corpus` is given no scenario, so it looks for those of the project, by their
 * names.
 */
import { type Dirent, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { groupDigits } from '../text/prose.ts';
import { UserError } from './exit.ts';
import { fileMeant, PLANS, plansFolderOf } from './shipped.ts';

/** Folders that are looked into, of any depth; the outer ones come first. */
const MOST_FOLDERS = 20_000;

/** The scenarios of a project, those in the outer folders first. */
interface Project {
  readonly files: ReadonlyMap<string, string>;
  /** False where there are more folders than are looked into. */
  readonly isWhole: boolean;
}

/** By the folder that they were looked for in: many findings ask for the same. */
const known = new Map<string, Project>();

/** The scenarios of the project at hand, by name. */
function projectHere(): Project {
  const here = process.cwd();
  const found = known.get(here) ?? lookForScenarios();
  known.set(here, found);
  return found;
}

function lookForScenarios(): Project {
  const files = new Map<string, string>();
  const folders = ['.'];
  // What is found on the way is looked into behind all that was found before.
  for (const folder of folders) {
    for (const entry of entriesIn(folder)) {
      const path = join(folder, entry.name);
      const isLeftOut = entry.name.startsWith('.') || [PLANS, 'node_modules'].includes(entry.name);
      const isInner = entry.isDirectory() && !isLeftOut;
      if (isInner && folders.push(path) > MOST_FOLDERS) return { files, isWhole: false };
      if (!entry.isFile() || !entry.name.endsWith('.yaml')) continue;
      const name = scenarioNameIn(path);
      if (name !== null && !files.has(name)) files.set(name, path);
    }
  }
  return { files, isWhole: true };
}

function entriesIn(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    // What cannot be looked into has no scenario that could be run.
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
 * The folder for plans of a scenario: beside it, or `./plans` where there is none of that name;
 * a `UserError` where the project is too large to know.
 */
export function folderToKeepIn(scenario: string): string {
  const { files, isWhole } = projectHere();
  const file = files.get(scenario) ?? shippedFile(scenario);
  if (file !== null) return plansFolderOf(file);
  if (isWhole) return PLANS;
  const what = `no scenario ${scenario} in the first ${groupDigits(MOST_FOLDERS)} folders here`;
  throw new UserError([`${what}: name the folder of its plans with --corpus <folder>`]);
}

function shippedFile(scenario: string): string | null {
  try {
    const file = fileMeant(scenario);
    return file === scenario ? null : file;
  } catch {
    return null;
  }
}

/** All folders of kept plans of the project at hand; `./plans` where there is none. */
export function foldersKept(): readonly string[] {
  const folders = [...projectHere().files.values()].map(plansFolderOf);
  const there = [...new Set([...folders, PLANS])].filter((folder) => existsSync(folder));
  return there.length === 0 ? [PLANS] : there;
}
