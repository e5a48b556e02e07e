import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { reportLeftOut, testFiles, turnOf } from './tools/left-out.ts';

/** The script of package.json that runs, if any. */
const tier = process.env['npm_lifecycle_event'] ?? '';
const SHORT: ReadonlySet<string> = new Set(['test', 'quick']);

/** How often laws are tried (`properties/runs.ts`); `npm run nightly` asks for `full` by name. */
const DEPTH =
  process.env['FENCEPOST_LAWS'] ??
  (SHORT.has(tier) ? 'short' : tier === 'test:all' ? 'third' : 'full');

/** Those for the night run at full depth only, as `vitest run` by itself has it. */
const ALL = testFiles().filter((file) => DEPTH === 'full' || !file.endsWith('.nightly.test.ts'));
const SLOW = ALL.filter((file) => /\.(slow|nightly)\.test\.ts$/.test(file));

/** Files that put something else in the place of a module, or say so, need modules of their own. */
const APART = ALL.filter((file) =>
  /^vi\.mock\(|^\/\/ Needs modules of its own/m.test(
    readFileSync(new URL(file, import.meta.url), 'utf8'),
  ),
);

/** In a worker they share one instance of each module: loading anew took a third of the time. */
const SHARED = ALL.filter((file) => !SLOW.includes(file) && !APART.includes(file));

const config: ViteUserConfig = defineConfig({
  resolve: {
    // Modules of users, as in fixtures/modules, import the package by its name.
    alias: [
      {
        find: /^fencepost$/,
        replacement: fileURLToPath(new URL('src/index.ts', import.meta.url)),
      },
      {
        find: /^fencepost\/check$/,
        replacement: fileURLToPath(new URL('src/check.ts', import.meta.url)),
      },
      {
        find: /^fencepost\/servers$/,
        replacement: fileURLToPath(new URL('src/servers.ts', import.meta.url)),
      },
      {
        find: /^fencepost\/redis$/,
        replacement: fileURLToPath(new URL('src/redis.ts', import.meta.url)),
      },
    ],
  },
  plugins: [reportLeftOut()],
  test: {
    globalSetup: 'tools/temporary-folder.ts',
    projects: [
      { extends: true, test: { name: 'shared', isolate: false, include: SHARED } },
      { extends: true, test: { name: 'apart', include: APART } },
      // These drive what is built, servers or a browser.
      { extends: true, test: { name: 'slow', isolate: false, include: SLOW } },
    ],
    // By default one core would stay idle; and slow tests often wait, for servers and time-outs.
    maxWorkers: availableParallelism() + (SHORT.has(tier) ? 0 : 1),
    testTimeout: 180_000,
    hookTimeout: 60_000,
    // There, `run` writes to GitHub what the tests are about.
    env: { GITHUB_ACTIONS: '', FENCEPOST_LAWS: DEPTH, FENCEPOST_TURN: turnOf(process.env) },
  },
});

export default config;
