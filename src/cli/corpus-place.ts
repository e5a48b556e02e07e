/**
 * Where plans are kept, by one rule for `run`, `corpus` and `init`: in `plans` beside the scenario
 * that they are of. `corpus` is given no scenario, so it looks for those of the project, by their
 * names. Until 0.2 `corpus` kept plans in `./plans` wherever the scenario was; what lies there
 * is still read, with a note, and will not be by a later minor version.
 */
import { type Dirent, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileMeant, plansFolderOf, plansFoldersOf } from './shipped.ts';

/** Where plans were kept before. */
const OLD_PLANS = 'plans';

/** Folders below the current one that are looked into. */
const MOST_DEPTH = 4;

/** By the folder that they were looked for in: many findings ask for the same. */
const known = new Map<string, ReadonlyMap<string, string>>();

/** The scenarios of the project at hand, those in the outer folders first: file by name. */
function scenariosHere(): ReadonlyMap<string, string> {
  const here = process.cwd();
  const found = known.get(here) ?? lookForScenarios();
  known.set(here, found);
  return found;
}

function lookForScenarios(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  let folders: readonly string[] = ['.'];
  for (let depth = 0; depth < MOST_DEPTH; depth += 1) {
    const inner: string[] = [];
    for (const folder of folders) {
      for (const entry of entriesIn(folder)) {
        const path = join(folder, entry.name);
        if (entry.isDirectory() && isLookedInto(entry.name)) inner.push(path);
        if (!entry.isFile() || !entry.name.endsWith('.yaml')) continue;
        const name = scenarioNameIn(path);
        if (name !== null && !found.has(name)) found.set(name, path);
      }
    }
    folders = inner;
  }
  return found;
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

/** The folder for plans of a scenario: beside it, or `./plans` where none of that name is found. */
export function folderToKeepIn(scenario: string): string {
  const file = scenariosHere().get(scenario) ?? shippedFile(scenario);
  return file === null ? OLD_PLANS : plansFolderOf(file);
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
  const folders = [...scenariosHere().values()].map(plansFolderOf);
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
