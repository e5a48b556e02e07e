/**
 * Makes the benchmark and the fuzzer runnable on any Node: one file each in `tools/built`, which
 * imports what it measures from the built package in `dist`, the very code that people install.
 */
import { dirname, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'rolldown';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const source = at('../src');
const built = at('built');

/** `../../src/run.ts` as the built `../../dist/run.js`, which is imported and not bundled. */
const fromDist = {
  name: 'from-dist',
  resolveId(specifier, importer) {
    if (importer === undefined || !specifier.startsWith('.')) return null;
    const path = resolve(dirname(importer), specifier);
    // What only tests and these have is not in `dist`.
    if (!path.startsWith(source + sep) || path.endsWith('.fixture.ts')) return null;
    const file = at(`../dist/${relative(source, path).replace(/\.ts$/, '.js')}`);
    return { id: relative(built, file), external: true };
  },
};

export default defineConfig({
  input: { bench: at('bench/bench.ts'), fuzz: at('fuzz/fuzz.ts') },
  platform: 'node',
  external: [/^[^./]/],
  plugins: [fromDist],
  output: { dir: built, format: 'esm' },
});
