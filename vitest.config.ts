import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './scripts/test-order.mjs';
import { PROJECTS } from './scripts/test-projects.mjs';

export default defineConfig({
  // Tests read the sources of every package, so that a stale build can never hide a mistake.
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    projects: PROJECTS,
    setupFiles: ['scripts/property-seed.mjs'],
    pool: 'forks',
    // Vitest leaves one core to itself. Two cores would then test one file at a time, and many files wait for a database or a process.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    sequence: { sequencer: LongestFirst },
    // Bounds of what hangs, not of what is slow: at a load of 15, tests of 10 s and starts of two servers took a minute.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    // One second is the default: a page of a browser on a busy machine takes longer than that.
    expect: { poll: { timeout: 15_000 } },
  },
});
