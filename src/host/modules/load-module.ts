/**
 * Loads one module with the user's definitions. Every problem is reported as a message, with the
 * place in the user's file if there is one.
 */
import { realpathSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { LoadedModule, SystemDefinition } from '../../catalogue.ts';
import { errorText } from '../../text/error-text.ts';
import { type Frame, framesIn, userFrameIn, userPlaceIn } from '../async/call-site.ts';
import { loadVirtually } from '../async/globals.ts';
import { within } from '../async/progress-beacon.ts';
import { loadApart } from '../realm/load-apart.ts';
import { ModuleGraph } from '../realm/module-graph.ts';
import { definitionIn, withInstances } from '../realm/per-process-instances.ts';
import { moduleVersion } from './module-digest.ts';
import { isTypeScript } from './resolve-module.ts';

type ModuleLoad =
  | {
      readonly kind: 'module';
      readonly module: LoadedModule;
      readonly definition: SystemDefinition;
    }
  | { readonly kind: 'problem'; readonly what: string };

/** Longest time that the thread may be idle while a module loads. */
const MOST_IDLE_MS = 10_000;

/** Loads `./my-lock.mjs` from `folder`. Links are followed, but must not lead out of the folder. */
export async function loadModule(path: string, folder: string): Promise<ModuleLoad> {
  const found = findModule(path, folder);
  return found.kind === 'problem' ? found : await importModule(found.module);
}

type ModuleFound =
  | { readonly kind: 'found'; readonly module: LoadedModule }
  | { readonly kind: 'problem'; readonly what: string };

/** Reads and digests `./my-lock.mjs` from `folder`, without running it. */
export function findModule(path: string, folder: string): ModuleFound {
  try {
    const root = realpathSync(folder);
    const file = realpathSync(resolve(folder, path));
    if (!file.startsWith(root.endsWith(sep) ? root : root + sep)) {
      return problem(`${path} is a link that leads out of the folder, to ${file}`);
    }
    const module = { path, digest: moduleVersion(file), url: pathToFileURL(file).href };
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

/** Imports new instances of a module and its imports, so that a watcher uses the latest version. */
export async function importModule(module: LoadedModule): Promise<ModuleLoad> {
  const { path, url } = module;
  try {
    // The functions that the module takes from builtin modules must be virtual when its clients
    // run.
    const graph = await ModuleGraph.open(url);
    const imported = await within(
      () => path,
      false,
      () => inTime(() => loadVirtually(() => loadApart(graph))),
    );
    const definition = definitionOf(imported);
    if (typeof definition === 'string') return problem(`${path} ${definition}`);
    return { kind: 'module', module, definition: withInstances(definition, graph) };
  } catch (error) {
    const hint = isTypeScript(url) ? typeHint(error) : '';
    // Node lists the files that required a missing file; the place already names the last of them.
    const text = errorText(error).replace(/\s*Require stack:[\s\S]*$/, '');
    return problem(`${path} cannot be loaded: ${text}${placeIn(url, error)}${hint}`);
  }
}

async function inTime<T>(load: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const { idle } = performance.eventLoopUtilization();
  const late = new Promise<never>((_, reject) => {
    const error = new Error(
      `it did not finish within ${MOST_IDLE_MS / 1000} s; if it awaits something that exists only in ` +
        "a run, such as a server's reply, await it in a section",
    );
    timer = setInterval(() => {
      if (performance.eventLoopUtilization().idle - idle >= MOST_IDLE_MS) reject(error);
    }, MOST_IDLE_MS / 50);
  });
  try {
    return await Promise.race([load(), late]);
  } finally {
    clearInterval(timer);
  }
}

const WANTED = 'what `defineSystem` returns';

function definitionOf(imported: object): SystemDefinition | string {
  if (!('default' in imported)) return `has no default export; export ${WANTED}`;
  const definition = definitionIn(imported);
  if (definition === null) return `has a default export other than ${WANTED}`;
  if (definition.version !== 1) return 'was defined with another version of fencepost';
  return definition;
}

/** Returns a hint for a type that is imported as a value: `export { Lease } from './lease'`. */
function typeHint(error: unknown): string {
  const [, name] = /does not provide an export named '(\w+)'/.exec(errorText(error)) ?? [];
  return name === undefined ? '' : `; if ${name} is a type, write \`type ${name}\``;
}

/**
 * Returns ` (at line 3, column 7)` for the module's own file, ` (at backoff.mjs:4:3)` for a module
 * that it imports, or ''.
 */
function placeIn(url: string, error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  // The stack of a syntax error in CommonJS begins with its place: `/home/a/backoff.cjs:4`.
  const head = /^(\/\S*|[A-Z]:\S*):(\d+)\n/.exec(stack);
  const at = head === null ? stack : `    at ${head[1]}:${head[2]}:0`;
  const isItself = ({ file }: Frame): boolean =>
    [url, fileURLToPath(url)].includes(file.replace(/\?.*$/, ''));
  const frame = userFrameIn({ stack: at }) ?? framesIn(at).find(isItself) ?? null;
  if (frame === null || errorText(error).includes(`:${frame.place}`)) return '';
  const place = (userPlaceIn({ stack: at }) ?? '').replace(/:0$/, '');
  if (!isItself(frame)) return ` (at ${place})`;
  const [line, column] = frame.place.split(':');
  return column === '0' ? ` (at line ${line})` : ` (at line ${line}, column ${column})`;
}

function problem(message: string): { readonly kind: 'problem'; readonly what: string } {
  return { kind: 'problem', what: message };
}
