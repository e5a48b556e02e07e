import { defineConfig, type ViteUserConfig } from 'vitest/config';

const config: ViteUserConfig = defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'properties/**/*.test.ts'],
    testTimeout: 60_000,
  },
});

export default config;
