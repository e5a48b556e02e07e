import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { tellsLeftOut } from './tools/left-out.ts';

/** The script of package.json that runs, if any. */
const tier = process.env['npm_lifecycle_event'] ?? '';
const SHORT: ReadonlySet<string> = new Set(['test', 'quick']);

const config: ViteUserConfig = defineConfig({
  resolve: {
    // Modules of users, as in fixtures/modules, import the package by its name.
    alias: [
      {
        find: /^fencepost$/,
        replacement: fileURLToPath(new URL('src/index.ts', import.meta.url)),
      },
      {
        find: /^fencepost\/redis$/,
        replacement: fileURLToPath(new URL('src/redis.ts', import.meta.url)),
      },
    ],
  },
  plugins: [tellsLeftOut()],
  test: {
    include: ['src/**/*.test.ts', 'properties/**/*.test.ts', 'tools/**/*.test.ts'],
    // By default one core would stay idle.
    maxWorkers: availableParallelism(),
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // There, `run` writes to GitHub what the tests are about.
    // `npm test` asks for a short answer from the laws as well.
    env: { GITHUB_ACTIONS: '', FENCEPOST_LAWS: SHORT.has(tier) ? 'short' : 'full' },
  },
});

export default config;
