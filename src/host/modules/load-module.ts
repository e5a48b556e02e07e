/**
 * Loads one module with definitions of a user's own, from below a folder and from nowhere else.
 * Whatever is wrong with it is said in words, with the place in the user's file where there is one.
 *
 * What a module's version is: the bytes of its file, and of the files that it imports by relative
 * paths, and those import in turn. Packages have versions of their own and are left out.
 */

import { createHash } from 'node:crypto';
import { readFileSync, realpathSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { init, parse } from 'es-module-lexer';
import type { LoadedModule, SystemDefinition } from '../../catalogue.ts';
import { errorText } from '../../text/error-text.ts';
import { loadVirtually } from '../async/globals.ts';
import { within } from '../async/whereabouts.ts';
import { ModuleGraph } from '../realm/module-graph.ts';
import { definitionIn, loadApart, withOwnInstances } from '../realm/own-instances.ts';

type ModuleRead =
  | {
      readonly kind: 'module';
      readonly module: LoadedModule;
      readonly definition: SystemDefinition;
    }
  | { readonly kind: 'problem'; readonly what: string };

/** A module that has not come to its end by then never will. */
const MOST_MS = 10_000;

/** Loads `./my-lock.mjs` of `folder`; links are followed, and may not lead out of it. */
export async function loadModule(path: string, folder: string): Promise<ModuleRead> {
  const found = await findModule(path, folder);
  return found.kind === 'problem' ? found : await importModule(found.module);
}

type ModuleFound =
  | { readonly kind: 'found'; readonly module: LoadedModule }
  | { readonly kind: 'problem'; readonly what: string };

/** Reads and digests `./my-lock.mjs` of `folder`, and runs nothing of it. */
export async function findModule(path: string, folder: string): Promise<ModuleFound> {
  try {
    const root = realpathSync(folder);
    const file = realpathSync(resolve(folder, path));
    if (!file.startsWith(root.endsWith(sep) ? root : root + sep)) {
      return problem(`${path} is a link that leads out of the folder, to ${file}`);
    }
    const module = { path, digest: await moduleDigest(file), url: pathToFileURL(file).href };
    return { kind: 'found', module };
  } catch (error) {
    return problem(`${path}: ${whyUnreadable(error)}`);
  }
}

function whyUnreadable(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'there is no such file';
  if (code === 'EISDIR') return 'this is a directory; name a file in it';
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  return errorText(error);
}

/**
 * Imports a module that was found, and what it imports, anew each time: a process that outlives a
 * change, as a watcher does, takes the new version.
 */
export async function importModule(module: LoadedModule): Promise<ModuleRead> {
  const { path, url } = module;
  try {
    // What it takes out of builtin modules is to be virtual where its clients run.
    const graph = await ModuleGraph.open(url);
    const imported = await within(
      () => path,
      false,
      () => inTime(() => loadVirtually(() => loadApart(graph))),
    );
    const definition = definitionOf(imported);
    if (typeof definition === 'string') return problem(`${path} ${definition}`);
    return { kind: 'module', module, definition: withOwnInstances(definition, graph) };
  } catch (error) {
    return problem(`${path} cannot be loaded: ${errorText(error)}${placeIn(url, error)}`);
  }
}

async function inTime<T>(load: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new Error(`it did not come to its end within ${MOST_MS / 1000} s`);
    timer = setTimeout(() => reject(error), MOST_MS);
  });
  try {
    return await Promise.race([load(), late]);
  } finally {
    clearTimeout(timer);
  }
}

const WANTED = 'what `defineSystem` returns';

function definitionOf(imported: object): SystemDefinition | string {
  if (!('default' in imported)) return `has no default export; export ${WANTED}`;
  const definition = definitionIn(imported);
  if (definition === null) return `exports something else by default than ${WANTED}`;
  if (definition.version !== 1) return 'was defined with another version of fencepost';
  return definition;
}

/** Where in the module's own file an error arose, ` (at line 3, column 7)`; else ''. */
function placeIn(url: string, error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const at = stack.indexOf(url);
  const rest = stack.slice(at + url.length).replace(/^\?sha256:[0-9a-f]+/, '');
  const [, line, column] = /^[^\s:]*:(\d+)(?::(\d+))?/.exec(rest) ?? [];
  if (at < 0 || line === undefined) return '';
  return column === undefined ? ` (at line ${line})` : ` (at line ${line}, column ${column})`;
}

function problem(what: string): { readonly kind: 'problem'; readonly what: string } {
  return { kind: 'problem', what };
}

/** `sha256:…` of a file; of one that imports no other file, of its bytes alone. */
export async function moduleDigest(file: string): Promise<string> {
  await init;
  const files = new Map<string, Buffer>();
  collect(file, files);
  const hash = createHash('sha256').update(files.get(file) ?? '');
  const imported = [...files].map(([path, bytes]) => {
    const name = relative(dirname(file), path).replaceAll('\\', '/');
    return { name, digest: createHash('sha256').update(bytes).digest('hex') };
  });
  imported.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name, digest } of imported.length > 1 ? imported : []) {
    hash.update(`\n${digest} ${name}`);
  }
  return `sha256:${hash.digest('hex')}`;
}

/** Throws what reading `file` throws; a file that it imports in vain is told as it is loaded. */
function collect(file: string, files: Map<string, Buffer>): void {
  const bytes = readFileSync(file);
  files.set(file, bytes);
  for (const path of relativeImports(bytes.toString('utf8'))) {
    const imported = fileURLToPath(new URL(path, pathToFileURL(file)));
    if (files.has(imported)) continue;
    try {
      collect(imported, files);
    } catch {}
  }
}

/** None where the text is no JavaScript, as of a module in TypeScript. */
function relativeImports(text: string): readonly string[] {
  try {
    const [imports] = parse(text);
    return imports.flatMap(({ n: path }) => (path?.startsWith('.') === true ? [path] : []));
  } catch {
    return [];
  }
}
