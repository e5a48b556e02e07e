/**
 * Makes what is published, of the modules in `src`: a few files instead of one each, with what they
 * share beside them. What the HTML report runs is among these files, so that the simulator is not
 * there twice; `src/report/html/document.ts` makes its script of them. For stack traces, classes keep
 * their names, and each thing that a module declares has a line of its own; what `import.meta.url`
 * leads to stays where it would be without bundling.
 *
 * Of the packages that are used, three are taken in: zod, of which a twentieth is needed and 8 MB
 * would be installed; fengari, with two packages that only a Lua with a terminal needs; and of
 * seedrandom the one file that is needed, since the page has it too. `licences.mjs` puts their
 * licences beside the code.
 */
import { posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'rolldown';
import { minifySync, parseSync } from 'rolldown/utils';
import { dts } from 'rolldown-plugin-dts';
import { groupsOf } from './chunks.mjs';
import { licences } from './licences.mjs';
import { schemasAsFiles } from './schemas.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const source = at('../src/');

/** What people import, what they run, and what is loaded by its URL. */
const imported = ['index', 'check', 'servers', 'fast-check', 'redis', 'vitest', 'fleet'];
const threads = ['cli/command-thread', 'search/sweep/worker', 'search/sweep/examiner'];
const others = ['watchdog-thread', 'check-scenario'].map(
  (name) => `adapters/scenario-check/${name}`,
);
const pages = ['report/page/boot', 'report/page/workbench'];
const entries = [...imported, 'cli', ...threads, ...others, ...pages];

const isPackage = (id) => /^[^./]/.test(id);
const inputs = (names, place) => Object.fromEntries(names.map((name) => [name, at(place(name))]));

const TAKEN_IN = /^(?:zod|fengari|sprintf-js|readline-sync|tmp|seedrandom)(?:\/|$)/;
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

/** Of minified code, each thing that a module declares on a line of its own, for stack traces. */
function inLines(fileName, code) {
  const { program } = parseSync(fileName, code);
  const shebang = code.slice(0, program.body[0]?.start ?? 0);
  const lines = program.body.flatMap(({ start, end, declarations = [] }) => {
    const ends = [...declarations.slice(1).map((declared) => declared.start), end];
    return ends.map((until, at) => code.slice(at === 0 ? start : ends[at - 1], until));
  });
  return shebang + lines.join('\n');
}

/** Our own code keeps the names of its classes, and a line for each thing that it declares. */
const smaller = {
  name: 'smaller',
  renderChunk(code, { fileName, name }) {
    const isTheirs = THEIRS.some((one) => one.name === name);
    const { code: short, errors } = minifySync(fileName, code, {
      module: true,
      compress: isTheirs ? true : { keepNames },
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

/** Without the libraries of Lua that ask for packages of a terminal as they are loaded. */
const luaOfScripts = {
  name: 'lua-of-scripts',
  load: (id) =>
    /[\\/]fengari[\\/]src[\\/]l(?:db|os)lib\.js$/.test(id) ? 'module.exports = {};' : null,
};

/** Without what writes JSON Schema: the schemas that are published are written by the build. */
const zodWithoutJsonSchema = {
  name: 'zod-without-json-schema',
  load: (id) =>
    /[\\/]zod[\\/]v4[\\/]core[\\/]to-json-schema\.js$/.test(id)
      ? `const none = () => undefined;
export { none as createStandardJSONSchemaMethod, none as createToJSONSchemaMethod };
export { none as extractDefs, none as finalize, none as handleUnrepresentable };
export { none as initializeContext, none as process, none as processSchema };`
      : null,
};

const bundled = {
  input: inputs(entries, (name) => `../src/${name}.ts`),
  platform: 'node',
  external: (id) => isPackage(id) && !TAKEN_IN.test(id),
};
const groups = await groupsOf({
  ...bundled,
  plugins: [schemasAsFiles, aleaAsModule, luaOfScripts, zodWithoutJsonSchema],
});

export default defineConfig([
  {
    ...bundled,
    plugins: [
      schemasAsFiles,
      placed,
      aleaAsModule,
      luaOfScripts,
      zodWithoutJsonSchema,
      smaller,
      licences(['zod', 'fengari', 'sprintf-js', 'seedrandom']),
    ],
    output: {
      dir: at('../dist'),
      format: 'esm',
      // By `smaller`: what rolldown itself does comes later, and prints all with its spaces.
      minify: false,
      chunkFileNames: 'shared/[name].js',
      codeSplitting: { groups: [...groups, ...THEIRS], includeDependenciesRecursively: false },
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
