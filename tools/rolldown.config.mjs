/**
 * Makes what is published, of the modules in `src`: a few files instead of one each, with what they
 * share beside them, and the script that the HTML report carries. For stack traces, functions keep
 * their names, and each of a module has a line of its own; what `import.meta.url` leads to stays
 * where it would be without bundling.
 *
 * Of the packages that are used, two are taken in: zod, of which a twentieth is needed and 8 MB
 * would be installed, and fengari, with two packages that only a Lua with a terminal needs.
 * `licences.mjs` puts their licences beside the code.
 */
import { posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'rolldown';
import { minifySync, parseSync } from 'rolldown/utils';
import { dts } from 'rolldown-plugin-dts';
import { licences } from './licences.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const source = at('../src/');

/** What people import, what they run, and what is loaded by its URL. */
const imported = ['index', 'fast-check', 'redis', 'vitest', 'fleet'];
const threads = ['cli/command-thread', 'search/sweep/worker', 'search/sweep/examiner'];
const others = ['adapters/fleet/shrink-thread', 'adapters/vitest/watchdog-thread'];
const entries = [...imported, 'cli', ...threads, ...others];

const isPackage = (id) => /^[^./]/.test(id);
const inputs = (names, place) => Object.fromEntries(names.map((name) => [name, at(place(name))]));

const TAKEN_IN = /^(?:zod|fengari|sprintf-js)(?:\/|$)/;
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

const keepNames = { function: true, class: true };

/** Of minified code, each statement of the module on a line of its own, for stack traces. */
function inLines(fileName, code) {
  const { program } = parseSync(fileName, code);
  const [first] = program.body;
  const shebang = code.slice(0, first?.start ?? 0);
  return shebang + program.body.map(({ start, end }) => code.slice(start, end)).join('\n');
}

/** Our own code keeps its statements and the names of its functions; that of others does not. */
const smaller = {
  name: 'smaller',
  renderChunk(code, { fileName, name }) {
    const isTheirs = THEIRS.some((one) => one.name === name);
    const { code: short, errors } = minifySync(fileName, code, {
      module: true,
      compress: isTheirs ? true : { keepNames, joinVars: false, sequences: false },
      mangle: { toplevel: true, ...(isTheirs ? {} : { keepNames }) },
      codegen: { removeWhitespace: true },
    });
    if (errors.length > 0) throw new Error(errors[0].message);
    return isTheirs ? short : `${inLines(fileName, short)}\n`;
  },
};

/** What fengari has for Node alone asks for the terminal's two packages, as soon as it is loaded. */
const noTerminal = {
  name: 'no-terminal',
  transform(code, id) {
    if (!/[\\/]node_modules[\\/]fengari[\\/]/.test(id)) return null;
    return code.replaceAll('typeof process', '"undefined"');
  },
};

/** Libraries of Lua that no script on Redis has, but that fengari loads with all others. */
const LEFT_OUT = ['fengarilib', 'ldblib', 'linit', 'liolib', 'loadlib', 'loslib', 'lutf8lib'];
const noOtherLibraries = {
  name: 'no-other-libraries',
  load(id) {
    const [, name] = /[\\/]node_modules[\\/]fengari[\\/]src[\\/](\w+)\.js$/.exec(id) ?? [];
    return LEFT_OUT.includes(name) ? 'module.exports = {};' : null;
  },
};

/** zod says its errors in forty languages, of which none is asked for. */
const noLocales = {
  name: 'no-locales',
  load(id) {
    return /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/.test(id) ? 'export {};' : null;
  },
};

export default defineConfig([
  {
    input: inputs(entries, (name) => `../src/${name}.ts`),
    platform: 'node',
    external: (id) => isPackage(id) && !TAKEN_IN.test(id),
    plugins: [
      ...[placed, noLocales, noTerminal, noOtherLibraries, smaller],
      licences(['zod', 'fengari', 'sprintf-js']),
    ],
    output: {
      dir: at('../dist'),
      format: 'esm',
      // By `smaller`: what rolldown itself does comes later, and prints all with its spaces.
      minify: false,
      chunkFileNames: 'shared/[name].js',
      codeSplitting: { groups: THEIRS },
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
    input: at('../src/report/page/boot.ts'),
    platform: 'browser',
    output: { file: at('../dist/report/page/script.js'), format: 'iife', minify: true },
  },
]);
