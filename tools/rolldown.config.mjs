/**
 * Makes what is published, of the modules in `src`: a few files instead of one each, with what they
 * share beside them. What the HTML report runs is among these files, so that the simulator is not
 * there twice; `src/report/html/document.ts` makes its script of them. For stack traces, classes keep
 * their names, and each function of a module has a line of its own; what `import.meta.url` leads to
 * stays where it would be without bundling.
 *
 * Of the packages that are used, three are taken in: zod, of which a twentieth is needed and 8 MB
 * would be installed; fengari (`lua-as-modules.mjs`), with two packages that only a Lua with a
 * terminal needs; and of seedrandom the one file that is needed, since the page has it too.
 * `licences.mjs` puts their licences beside the code.
 */
import { posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, rolldown } from 'rolldown';
import { minifySync, parseSync } from 'rolldown/utils';
import { dts } from 'rolldown-plugin-dts';
import { licences } from './licences.mjs';
import { luaAsModules } from './lua-as-modules.mjs';
import { schemasAsFiles } from './schemas.mjs';
import { zodAsUsed } from './zod-as-used.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const source = at('../src/');

/** What people import, what they run, and what is loaded by its URL. */
const imported = ['index', 'fast-check', 'redis', 'vitest', 'fleet'];
const threads = ['cli/command-thread', 'search/sweep/worker', 'search/sweep/examiner'];
const others = ['adapters/fleet/shrink-thread', 'adapters/vitest/watchdog-thread'];
const pages = ['report/page/boot', 'report/page/workbench'];
const entries = [...imported, 'cli', ...threads, ...others, ...pages];

const isPackage = (id) => /^[^./]/.test(id);
const inputs = (names, place) => Object.fromEntries(names.map((name) => [name, at(place(name))]));

const TAKEN_IN = /^(?:zod|fengari|sprintf-js|seedrandom)(?:\/|$)/;
const TAKEN_IN_PATH = /[\\/]node_modules[\\/]/;
const THEIRS = [
  { name: 'zod', test: /[\\/]node_modules[\\/]zod[\\/]/ },
  { name: 'fengari', test: /[\\/]node_modules[\\/](?:fengari|sprintf-js)[\\/]/ },
];

/** A module's own place, in whichever file of `dist` its code is. */
const placed = {
  name: 'placed',
  transform(code, id) {
    if (!id.startsWith(source) || !code.includes('import.meta.url')) return null;
    const place = relative(source, id).split(sep).join('/').replace(/\.ts$/, '.js');
    return code.replaceAll('import.meta.url', `__PLACE__(${JSON.stringify(place)})`);
  },
  renderChunk(code, { fileName }) {
    if (!code.includes('__PLACE__(')) return null;
    const up = posix.relative(posix.dirname(fileName), '.');
    return code.replace(/__PLACE__\("([^"]+)"\)/g, (_, place) => {
      const path = posix.join(up, place);
      const named = JSON.stringify(path.startsWith('.') ? path : `./${path}`);
      return place === fileName ? 'import.meta.url' : `new URL(${named}, import.meta.url).href`;
    });
  },
};

/** Those of functions would take 16 kB of the tarball. */
const keepNames = { function: false, class: true };

/** Of minified code, each statement of the module on a line of its own, for stack traces. */
function inLines(fileName, code) {
  const { program } = parseSync(fileName, code);
  const [first] = program.body;
  const shebang = code.slice(0, first?.start ?? 0);
  return shebang + program.body.map(({ start, end }) => code.slice(start, end)).join('\n');
}

/** Our own code keeps its statements and the names of its classes; that of others does not. */
const smaller = {
  name: 'smaller',
  renderChunk(code, { fileName, name }) {
    const isTheirs = THEIRS.some((one) => one.name === name);
    const { code: short, errors } = minifySync(fileName, code, {
      module: true,
      compress: isTheirs ? true : { keepNames, joinVars: false },
      mangle: { toplevel: true, ...(isTheirs ? {} : { keepNames }) },
      codegen: { removeWhitespace: true },
    });
    if (errors.length > 0) throw new Error(errors[0].message);
    return isTheirs ? short : `${inLines(fileName, short)}\n`;
  },
};

/** The one file of seedrandom as a module, so that nothing stands between it and the page. */
const aleaAsModule = {
  name: 'alea-as-module',
  transform(code, id) {
    if (!/[\\/]seedrandom[\\/]lib[\\/]alea\.js$/.test(id)) return null;
    return `const module = { exports: {} };\n${code}\nexport default module.exports;`;
  },
};

/** Locks that most scenarios do not have, in files of their own; `document.ts` knows whose. */
const SPARED = [
  ['locks-on-caches', /[\\/]systems[\\/](?:cache|cache-lock|worker-lease)[\\/]/],
  ['locks-on-redis', /[\\/]systems[\\/](?:redis|redlock)[\\/]/],
  ['locks-on-services', /[\\/]systems[\\/](?:etcd|kubernetes|postgres|zookeeper)[\\/]/],
];

/** What an entry of the page leads to, each module with what it imports. */
async function importsFrom(entry) {
  const imports = new Map();
  const noting = {
    name: 'noting',
    moduleParsed: ({ id, importedIds }) => void imports.set(id, importedIds),
  };
  const external = (id) => isPackage(id) && !TAKEN_IN.test(id);
  const input = at(`../src/report/page/${entry}.ts`);
  await (await rolldown({ input, external, plugins: [noting, aleaAsModule] })).generate();
  return imports;
}

/**
 * All modules that the page's own import, and what those import, in files that import no others:
 * `core`, the locks that a page has only if it needs them, `flow`, which knows all locks, `page`,
 * which both pages have, and `reader`, which only the playground needs. They import packages, too,
 * which the page does not call.
 */
async function groupsOfPage() {
  const imports = await importsFrom('boot');
  const ofWorkbench = await importsFrom('workbench');
  const sparedOf = (id) => SPARED.find(([, test]) => test.test(id))?.[0];
  const leadsToLocks = (id, seen = new Set()) => {
    if (sparedOf(id) !== undefined) return true;
    if (seen.has(id)) return false;
    seen.add(id);
    return (imports.get(id) ?? []).some((next) => leadsToLocks(next, seen));
  };
  const groupOf = (id) => {
    const [, own] = /[\\/]src[\\/]report[\\/]page[\\/](\w+)\.ts$/.exec(id) ?? [];
    if (own !== undefined) return imports.has(id) && own !== 'boot' ? 'page' : null;
    if (!imports.has(id)) return ofWorkbench.has(id) && !TAKEN_IN_PATH.test(id) ? 'reader' : null;
    return sparedOf(id) ?? (leadsToLocks(id) ? 'flow' : 'core');
  };
  const groups = new Map([...imports, ...ofWorkbench].map(([id]) => [id, groupOf(id)]));
  return ['core', ...SPARED.map(([name]) => name), 'flow', 'page', 'reader'].map((name) => ({
    ...{ name, priority: 1, test: (id) => groups.get(id) === name },
  }));
}

const ofPage = await groupsOfPage();

export default defineConfig([
  {
    input: inputs(entries, (name) => `../src/${name}.ts`),
    platform: 'node',
    external: (id) => isPackage(id) && !TAKEN_IN.test(id),
    plugins: [
      ...[schemasAsFiles, placed, zodAsUsed, aleaAsModule, luaAsModules, smaller],
      licences(['zod', 'fengari', 'sprintf-js', 'seedrandom']),
    ],
    output: {
      dir: at('../dist'),
      format: 'esm',
      // By `smaller`: what rolldown itself does comes later, and prints all with its spaces.
      minify: false,
      chunkFileNames: 'shared/[name].js',
      codeSplitting: { groups: [...ofPage, ...THEIRS], includeDependenciesRecursively: false },
      // What editors show is in the types.
      comments: { legal: true, annotation: true, jsdoc: false },
    },
  },
  {
    // Of the types that tsc wrote, those that people can reach.
    input: inputs(imported, (name) => `built/modules/${name}.d.ts`),
    external: isPackage,
    plugins: [dts({ dtsInput: true })],
    output: { dir: at('../dist'), format: 'esm', chunkFileNames: 'shared/[name].js' },
  },
  {
    input: at('../src/report/page/loader.ts'),
    platform: 'browser',
    output: { file: at('../dist/report/page/loader.js'), format: 'iife', minify: true },
  },
]);
