/**
 * Where plans are kept, by one rule for `run`, `corpus` and `init`: in `plans` beside the scenario
 * that they are of. `corpus` is given no scenario, so it looks for those of the project, by their
 * names. Until 0.2 `corpus` kept plans in `./plans` wherever the scenario was; what lies there
 * is still read, with a note, and will not be by a later minor version.
 */
import { type Dirent, existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { groupDigits } from '../text/prose.ts';
import { UserError } from './exit.ts';
import { fileMeant, plansFolderOf, plansFoldersOf } from './shipped.ts';

/** Where plans were kept before. */
const OLD_PLANS = 'plans';

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
      const isInner = entry.isDirectory() && isLookedInto(entry.name);
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

function isLookedInto(name: string): boolean {
  return !name.startsWith('.') && name !== 'node_modules' && name !== OLD_PLANS;
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
  if (isWhole) return OLD_PLANS;
  const what = `no scenario ${scenario} in the first ${groupDigits(MOST_FOLDERS)} folders here`;
  throw new UserError([`${what}: name the folder of its plans with --corpus <folder>`]);
}

/**
 * What is said of a plan that lies where plans were kept before, though its scenario lies
 * elsewhere; null of all others.
 */
export function oldPlaceNote(file: string, scenario: string): string | null {
  if (resolve(dirname(file)) !== resolve(OLD_PLANS)) return null;
  const home = projectHere().files.get(scenario);
  return home === undefined ? null : noteOfOldPlace(scenario, home);
}

/** Says where the plans of a scenario belong that lie in `./plans`. */
export function noteOfOldPlace(scenario: string, scenarioFile: string): string | null {
  const place = plansFolderOf(scenarioFile);
  if (resolve(place) === resolve(OLD_PLANS)) return null;
  const where = `lie in ./${OLD_PLANS}; move them to ${place}`;
  return `note: plans of ${scenario} ${where}: from 0.3 on they are looked for there only`;
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
  const there = [...new Set([...folders, OLD_PLANS])].filter((folder) => existsSync(folder));
  return there.length === 0 ? [OLD_PLANS] : there;
}

/** Where `run` reads the plans of a scenario, and which of these is where they were kept before. */
export function foldersToReplay(scenarioFile: string): {
  readonly folders: readonly string[];
  readonly old: string | null;
} {
  const folders = plansFoldersOf(scenarioFile);
  const isOwn = folders.some((folder) => resolve(folder) === resolve(OLD_PLANS));
  if (isOwn || !existsSync(OLD_PLANS)) return { folders, old: null };
  return { folders: [...folders, OLD_PLANS], old: OLD_PLANS };
}
