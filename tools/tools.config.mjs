/**
 * Makes the benchmark, the fuzzer, the freeze and the studies of locks runnable on any Node: one
 * file each in `tools/built`, which imports what it runs from the built package in
 * `tools/built/modules`, of which `dist` is made.
 */
import { dirname, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'rolldown';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const source = at('../src');
const built = at('built');

/** `../../src/run.ts` as the built `modules/run.js`, which is imported and not bundled. */
const fromBuilt = {
  name: 'from-built',
  resolveId(specifier, importer) {
    if (importer === undefined || !specifier.startsWith('.')) return null;
    const path = resolve(dirname(importer), specifier);
    // What only tests and these have is not built.
    if (!path.startsWith(source + sep) || path.endsWith('.fixture.ts')) return null;
    const file = at(`built/modules/${relative(source, path).replace(/\.ts$/, '.js')}`);
    return { id: `./${relative(built, file)}`, external: true };
  },
};

export default defineConfig({
  input: {
    bench: at('bench/bench.ts'),
    compare: at('compare/main.ts'),
    freeze: at('freeze/freeze.ts'),
    fuzz: at('fuzz/fuzz.ts'),
    'lock-mutants': at('mutants/lock-mutants.ts'),
  },
  platform: 'node',
  external: [/^[^./]/],
  plugins: [fromBuilt],
  output: { dir: built, format: 'esm' },
});
