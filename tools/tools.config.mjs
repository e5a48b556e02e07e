/**
 * Bundles the benchmark, the fuzzer, the freeze and the lock studies for any Node: one file each in
 * `tools/built`, which imports its modules from the built package in `tools/built/modules`, from
 * which `dist` is made.
 */
import { dirname, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'rolldown';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const source = at('../src');
const built = at('built');

/** Maps `../../src/run.ts` to the built `modules/run.js`, which is imported and not bundled. */
const fromBuilt = {
  name: 'from-built',
  resolveId(specifier, importer) {
    if (importer === undefined || !specifier.startsWith('.')) return null;
    const path = resolve(dirname(importer), specifier);
    // Modules that only tests and these tools use are not built.
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
