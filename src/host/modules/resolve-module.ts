/**
 * Resolves the imports of a user's module as TypeScript and its tools do. Node's rules apply, with
 * these additions for files outside `node_modules`:
 *
 * - `./lock` may be `lock.ts`, `lock.js` or `lock/index.ts`, and `./lock.js` may mean `lock.ts`;
 * - the `paths` and the `baseUrl` of the nearest `tsconfig.json` apply.
 *
 * Packages of a workspace are links in `node_modules`; the linked files are outside it.
 */
import { realpathSync, statSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createPathsMatcher, getTsconfig, type PathsMatcher } from 'get-tsconfig';
import { moduleResolve } from 'import-meta-resolve';
import { errorText } from '../../text/error-text.ts';

/** The target of an import, or a description of the problem. */
export type Resolution =
  | { readonly kind: 'file'; readonly url: string }
  | { readonly kind: 'builtin'; readonly name: string }
  | { readonly kind: 'problem'; readonly what: string };

/** The kind of import. A package may provide a different file for each kind. */
export type Asking = 'import' | 'require';

/** Resolves an import of the module at the URL `parent`. Runs no code. */
export function resolveModule(
  specifier: string,
  parent: string,
  asking: Asking = 'import',
): Resolution {
  if (isBuiltin(specifier)) return { kind: 'builtin', name: specifier };
  try {
    const url = userFile(specifier, parent) ?? asNode(specifier, parent, asking);
    return { kind: 'file', url };
  } catch (error) {
    // The file that Node did not find.
    const url = error instanceof Error && 'url' in error ? error.url : null;
    const tried = typeof url === 'string' && isUserFile(url) ? new URL(url) : null;
    const swapped = fileNear(tried, true);
    if (swapped !== null) return { kind: 'file', url: swapped };
    return { kind: 'problem', what: errorText(error) };
  }
}

/** Returns true for the URL of a file outside `node_modules`. */
export function isUserFile(url: string): boolean {
  return url.startsWith('file:') && !url.includes('/node_modules/');
}

/** Returns true if the file at the URL or path must be translated. */
export function isTypeScript(url: string): boolean {
  return /\.(?:[cm]?ts|tsx|jsx)(?:[?#]|$)/.test(url);
}

/**
 * Returns the URL of a user file that is named relative to `parent` or mapped by a tsconfig.
 * Returns null if only Node's rules apply.
 */
function userFile(specifier: string, parent: string): string | null {
  if (!isUserFile(parent)) return null;
  const prefersTypes = isTypeScript(parent);
  if (/^(?:\.{0,2}\/|\.{1,2}$|file:)/.test(specifier)) {
    return fileNear(new URL(specifier, parent), prefersTypes);
  }
  const mapped = pathsFor(dirname(fileURLToPath(parent)))?.(specifier) ?? [];
  for (const path of mapped) {
    const found = fileNear(pathToFileURL(path), prefersTypes);
    if (found !== null) return found;
  }
  return null;
}

const IMPORT_CONDITIONS: ReadonlySet<string> = new Set(['node', 'import', 'module-sync']);

function asNode(specifier: string, parent: string, asking: Asking): string {
  if (asking === 'require') {
    return pathToFileURL(createRequire(parent).resolve(specifier)).href;
  }
  return moduleResolve(specifier, new URL(parent), new Set(IMPORT_CONDITIONS), false).href;
}

/** Follows links, and keeps the query and the fragment. */
function fileNear(url: URL | null, prefersTypes: boolean): string | null {
  if (url === null) return null;
  for (const path of candidatesFor(fileURLToPath(url), prefersTypes)) {
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) continue;
    return pathToFileURL(realpathSync(path)).href + url.search + url.hash;
  }
  return null;
}

const ENDINGS = ['.ts', '.tsx', '.mts', '.cts', '.js', '.mjs', '.cjs', '.json'];

function candidatesFor(path: string, prefersTypes: boolean): readonly string[] {
  const typed = path.replace(/\.([cm]?)js(x?)$/, '.$1ts$2');
  const all = [typed, path.replace(/\.js$/, '.tsx')];
  if (typed !== path) return prefersTypes ? [...all, path] : [path, ...all];
  const isFolder = /[\\/]$/.test(path);
  const within = ENDINGS.map((ending) => `${path}${isFolder ? '' : '/'}index${ending}`);
  return isFolder ? within : [path, ...ENDINGS.map((ending) => path + ending), ...within];
}

const pathsByFolder = new Map<string, PathsMatcher | null>();

function pathsFor(folder: string): PathsMatcher | null {
  const known = pathsByFolder.get(folder);
  if (known !== undefined) return known;
  const config = getTsconfig(folder);
  const paths = config === null ? null : createPathsMatcher(config);
  pathsByFolder.set(folder, paths);
  return paths;
}
