import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Tests read the sources of every package, so that a stale build can never hide a mistake.
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'bench/src/**/*.test.ts', 'e2e/src/**/*.test.ts'],
    setupFiles: ['scripts/property-seed.mjs'],
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
