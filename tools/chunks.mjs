/**
 * Assigns modules to the files of `dist`. First those of the page, whose script is built from the
 * same files: `checker`, also used by `fencepost/check`; `core`; the locks that a page contains
 * only if needed; `flow`, which knows all locks; `page`, which both pages contain; and `reader`,
 * for the playground only. Modules for Node are in few files, too, since each file adds 60 bytes to
 * the tarball and its name lists add many more: `histories`, the rest of `fencepost/check`;
 * `start`, which every command loads; `library`, for users' imports and worker threads, and `host`,
 * its part that loads others' modules; `redis`, which most runs do not need; `commands`; and
 * `runs`, the commands that need the host. Modules that import a package which may be missing, or
 * that only `doctor` needs, stay separate.
 */
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const source = fileURLToPath(new URL('../src/', import.meta.url));
const TAKEN_IN_PATH = /[\\/]node_modules[\\/]/;
const APART = /^(?:bullmq|fast-check|ioredis|semver|vitest)(?:\/|$)/;

/** Packages for `host`, which take 40 ms to load. */
const HOSTING = /^(?:acorn|es-module-lexer|get-tsconfig|import-meta-resolve)$/;

/** Locks that most scenarios do not use, in separate files; `document.ts` maps locks to files. */
const SPARED = [
  ['locks-on-caches', /[\\/]zoo[\\/](?:cache|cache-lock|worker-lease)[\\/]/],
  ['locks-on-redis', /[\\/](?:systems|zoo)[\\/](?:redis|redlock)[\\/]/],
  ['locks-on-services', /[\\/]zoo[\\/](?:etcd|kubernetes|postgres|zookeeper)[\\/]/],
];

/** Returns all modules, each with its static and its dynamic imports. */
async function readImports(options) {
  const imports = new Map();
  const noting = {
    name: 'noting',
    moduleParsed: ({ id, importedIds, dynamicallyImportedIds }) =>
      void imports.set(id, { atOnce: importedIds, later: dynamicallyImportedIds }),
  };
  const plugins = [...options.plugins, noting];
  await (await rolldown({ ...options, plugins })).generate();
  return imports;
}

/** Returns the groups for rolldown; `options` define the entries and how modules are read. */
export async function groupsOf(options) {
  const imports = await readImports(options);
  const idOf = (name) => {
    const id = [...imports.keys()].find((one) => one === `${source}${name}.ts`);
    if (id === undefined) throw new Error(`chunks: there is no src/${name}.ts`);
    return id;
  };

  const reached = (names, next) => {
    const met = new Set(names.map(idOf));
    for (const id of met) for (const other of next(imports.get(id))) met.add(other);
    return met;
  };
  const atOnce = (module) => module?.atOnce ?? [];
  const ever = (module) => [...atOnce(module), ...(module?.later ?? [])];
  const ofPage = reached(['report/page/boot'], ever);
  const ofEditor = reached(['report/page/editor'], ever);
  const ofCheck = reached(['check'], atOnce);
  const ofStart = reached(['cli/supervisor', 'cli/command-thread'], atOnce);
  const ofLibrary = reached(
    ['index', 'vitest', 'adapters/fleet/worker', 'search/sweep/worker'],
    atOnce,
  );
  const ofRedis = reached(['host/network/redis-hosts'], atOnce);
  const ofCommands = reached(['cli/program'], ever);

  const leadsTo = (isMeant, id, seen = new Set()) => {
    if (isMeant(id)) return true;
    if (seen.has(id)) return false;
    seen.add(id);
    return atOnce(imports.get(id)).some((next) => leadsTo(isMeant, next, seen));
  };
  const entries = new Set(Object.values(options.input));
  const sparedOf = (id) => SPARED.find(([, test]) => test.test(id))?.[0];

  const groupOf = (id) => {
    const [, own] = /[\\/]src[\\/]report[\\/]page[\\/](\w+)\.ts$/.exec(id) ?? [];
    if (own !== undefined) return ofPage.has(id) && own !== 'boot' ? 'page' : null;
    if (ofCheck.has(id) && !entries.has(id)) {
      return ofPage.has(id) || ofEditor.has(id) ? 'checker' : 'histories';
    }
    if (ofPage.has(id)) return sparedOf(id) ?? (leadsTo(sparedOf, id) ? 'flow' : 'core');
    if (TAKEN_IN_PATH.test(id)) return null;
    if (ofEditor.has(id)) return 'reader';
    // A thread's module runs as soon as it is loaded.
    if (entries.has(id) || leadsTo((other) => APART.test(other), id)) return null;
    if (ofStart.has(id)) return 'start';
    if (ofRedis.has(id) && !ofLibrary.has(id)) return 'redis';
    const isHosting = leadsTo((other) => HOSTING.test(other), id);
    if (ofLibrary.has(id)) return isHosting ? 'host' : 'library';
    return ofCommands.has(id) ? (isHosting ? 'runs' : 'commands') : null;
  };
  const groups = new Map([...imports.keys()].map((id) => [id, groupOf(id)]));
  const names = [...new Set(groups.values())].filter((name) => name !== null);
  return names.map((name) => ({ name, priority: 1, test: (id) => groups.get(id) === name }));
}
