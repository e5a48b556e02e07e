/**
 * Bundles the modules of `src` for publication into a few files and the chunks that they share. The
 * HTML report uses the same files, so that the simulator is not included twice;
 * `src/report/html/document.ts` builds its script from them. For stack traces, classes keep their
 * names, and each declaration of a module has its own line. `import.meta.url` refers to the same
 * place as without bundling.
 *
 * Three dependencies are bundled: zod, of which a twentieth is needed and 8 MB would be installed;
 * fengari, with two packages that only a Lua with a terminal needs; and the one file of seedrandom
 * that is needed, since the page has it, too. `licences.mjs` adds their licenses.
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

/** Modules that users import or run, and modules that are loaded by URL. */
const imported = ['index', 'check', 'servers', 'fast-check', 'redis', 'vitest', 'fleet'];
const threads = ['cli/command-thread', 'search/sweep/worker', 'search/sweep/examiner'];
const others = ['watchdog-thread', 'check-scenario'].map(
  (name) => `adapters/scenario-check/${name}`,
);
const pages = ['report/page/boot', 'report/page/editor'];
const entries = [...imported, 'cli', ...threads, ...others, ...pages];

const isPackage = (id) => /^[^./]/.test(id);
const inputs = (names, place) => Object.fromEntries(names.map((name) => [name, at(place(name))]));

const TAKEN_IN = /^(?:zod|fengari|sprintf-js|readline-sync|tmp|seedrandom)(?:\/|$)/;
const THEIRS = [
  { name: 'zod', test: /[\\/]node_modules[\\/]zod[\\/]/ },
  { name: 'fengari', test: /[\\/]node_modules[\\/](?:fengari|sprintf-js)[\\/]/ },
];

/** Gives a module its original `import.meta.url`, whichever file of `dist` contains its code. */
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

/** Names of functions would add 16 kB to the tarball. */
const keepNames = { function: false, class: true };

/** Puts each declaration of minified code on its own line, for stack traces. */
function inLines(fileName, code) {
  const { program } = parseSync(fileName, code);
  const shebang = code.slice(0, program.body[0]?.start ?? 0);
  const lines = program.body.flatMap(({ start, end, declarations = [] }) => {
    const ends = [...declarations.slice(1).map((declared) => declared.start), end];
    return ends.map((until, at) => code.slice(at === 0 ? start : ends[at - 1], until));
  });
  return shebang + lines.join('\n');
}

/** Minifies; our own code keeps its class names and a line per declaration. */
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

/** Turns the one file of seedrandom into a module that the page can include directly. */
const aleaAsModule = {
  name: 'alea-as-module',
  transform(code, id) {
    if (!/[\\/]seedrandom[\\/]lib[\\/]alea\.js$/.test(id)) return null;
    return `const module = { exports: {} };\n${code}\nexport default module.exports;`;
  },
};

/** Leaves out the Lua libraries that load terminal packages. */
const luaOfScripts = {
  name: 'lua-of-scripts',
  load: (id) =>
    /[\\/]fengari[\\/]src[\\/]l(?:db|os)lib\.js$/.test(id) ? 'module.exports = {};' : null,
};

/** Leaves out the writer of JSON Schema: the build writes the published schemas. */
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
      // Done by `smaller`: rolldown minifies later, and prints all whitespace.
      minify: false,
      chunkFileNames: 'shared/[name].js',
      codeSplitting: { groups: [...groups, ...THEIRS], includeDependenciesRecursively: false },
      // The types contain the comments that editors show.
      comments: { legal: true, annotation: true, jsdoc: false },
    },
  },
  {
    // From the types that tsc wrote, those that users can reach.
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
