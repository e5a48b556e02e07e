/**
 * Makes what is published, of the modules in `src`: a few files instead of one each, with what they
 * share beside them, and the script that the HTML report carries. Lines and the names of functions
 * stay, for stack traces; what `import.meta.url` leads to stays where it would be without bundling.
 *
 * Of the packages that are used, two are taken in: zod, of which a twentieth is needed and 8 MB
 * would be installed, and fengari, with two packages that only a Lua with a terminal needs.
 * `licences.mjs` puts their licences beside the code.
 */
import { posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'rolldown';
import { minifySync } from 'rolldown/utils';
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

/** Our own code stays one to read, but for the names of variables; that of others does not. */
const smaller = {
  name: 'smaller',
  renderChunk(code, { fileName, name }) {
    const isTheirs = THEIRS.some((one) => one.name === name);
    const { code: short, errors } = minifySync(fileName, code, {
      module: true,
      compress: isTheirs,
      mangle: { toplevel: true, ...(isTheirs ? {} : { keepNames }) },
      codegen: { removeWhitespace: isTheirs },
    });
    if (errors.length > 0) throw new Error(errors[0].message);
    return short;
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
    plugins: [placed, noLocales, noTerminal, smaller, licences(['zod', 'fengari', 'sprintf-js'])],
    output: {
      dir: at('../dist'),
      format: 'esm',
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
