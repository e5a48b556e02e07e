/** Looks at this package: is it whole, are its schemas its own, and which copy of it is this? */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Check, ok, problem, warning } from './check.ts';
import { findPackage, type Manifest, readManifest } from './manifest.ts';

const REINSTALL = 'install fencepost again: npm install --save-dev fencepost';

export interface PackageFacts {
  /** The folder of the package. */
  readonly root: string;
  readonly manifest: Manifest;
  /** The schemas as this very code makes them, by their files in `dist`. */
  readonly schemas: Readonly<Record<string, object>>;
}

/** Three checks: the files, the schemas, and what else is installed where people work. */
export function checkPackage(facts: PackageFacts, workFolder: string): readonly Check[] {
  return [checkFiles(facts), checkSchemas(facts), checkCopy(facts, workFolder)];
}

function checkFiles({ root, manifest }: PackageFacts): Check {
  const missing = missingFiles(root, manifest);
  const [first] = missing;
  const name = `fencepost ${manifest.version}`;
  if (first === undefined) return ok('package', `${name} from ${root}, no file missing`);
  const what = `${name} from ${root} lacks ${missing.length} of its files, first ${first}`;
  return problem('package', what, REINSTALL);
}

/** Files that are loaded by their URL, so that no import tells of them. */
const LOADED_BY_URL = [
  'dist/report/page/script.js',
  'dist/search/sweep/worker.js',
  'dist/search/sweep/examiner.js',
];

/** Files that the package names, or that one of those imports, and that are not there. */
export function missingFiles(root: string, manifest: Manifest): readonly string[] {
  const begin = [...textsIn(manifest.exports), ...textsIn(manifest.bin), ...LOADED_BY_URL];
  const waiting = begin.map((path) => join(root, path));
  const met = new Set(waiting);
  const missing: string[] = [];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (!existsSync(file)) missing.push(file.slice(root.length + 1));
    else if (file.endsWith('.js')) {
      for (const imported of importsOf(file)) {
        if (!met.has(imported)) waiting.push(imported);
        met.add(imported);
      }
    }
  }
  return missing.sort();
}

const IMPORT =
  /^(?:(?:import|export)\b[^'\n]*|\}\s*from\s*)'(\.[^']+)';?$|\bimport\('(\.[^']+)'\)/gm;
/** Comments may show imports that are none. */
const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;

/** The files of the package that a built file imports. */
function importsOf(file: string): readonly string[] {
  const code = readFileSync(file, 'utf8').replace(COMMENT, '');
  const matches = [...code.matchAll(IMPORT)];
  return matches.map(([, fixed, late]) => join(dirname(file), fixed ?? late ?? ''));
}

/** Every text in a value: the paths that `exports` leads to, under whatever conditions. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

function checkSchemas({ root, schemas }: PackageFacts): Check {
  const names = Object.keys(schemas);
  const stale = names.filter((name) => !isSame(join(root, 'dist', name), schemas[name]));
  if (stale.length === 0) return ok('schemas', `${names.join(' and ')} are of this version`);
  return warning('schemas', `${stale.join(' and ')}: not of this version`, REINSTALL);
}

function isSame(file: string, schema: unknown): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(readFileSync(file, 'utf8')), schema);
  } catch {
    return false;
  }
}

/** Modules of people's own import the copy that their project has. */
function checkCopy({ root, manifest }: PackageFacts, workFolder: string): Check {
  const found = findPackage(manifest.name, workFolder);
  if (found === null) {
    const what = 'this folder has no fencepost of its own, which modules of your own would import';
    return warning('copy', what, 'npm install --save-dev fencepost');
  }
  if (realpathSync(found) === realpathSync(root)) return ok('copy', 'it is the one of this folder');
  const other = readManifest(found)?.version ?? '';
  const what = `another copy is installed here: ${other} in ${found}`;
  return warning('copy', what, 'run that one: npx fencepost doctor');
}
