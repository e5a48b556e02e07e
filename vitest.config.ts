import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { tellsLeftOut } from './tools/left-out.ts';

const config: ViteUserConfig = defineConfig({
  resolve: {
    // Modules of users, as in fixtures/modules, import the package by its name.
    alias: [
      {
        find: /^fencepost$/,
        replacement: fileURLToPath(new URL('src/index.ts', import.meta.url)),
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
    env: { GITHUB_ACTIONS: '' },
  },
});

export default config;
