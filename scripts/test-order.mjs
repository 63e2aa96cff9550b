/**
 * The longest test files start first, so that no worker is left with one of them at the end while the others have nothing to do.
 * Vitest goes by the size of a file where it has no figures of an earlier run, and some of the longest are the smallest.
 */
import { existsSync } from 'node:fs';
import { BaseSequencer } from 'vitest/node';

/** Files that take more than about 25 seconds, longest first. */
const LONGEST = [
  'e2e/src/first-hour.test.ts',
  'e2e/src/kills/kill.test.ts',
  'packages/cli/src/cli.test.ts',
  'e2e/src/guides.test.ts',
  'packages/simulator/src/sabotage.test.ts',
  'packages/simulator/src/simulate.test.ts',
  'e2e/src/kills/worker-leaves.test.ts',
  'e2e/src/ui.test.ts',
  'e2e/src/packages.test.ts',
  'packages/cli/src/stumbles.test.ts',
  'packages/store/src/postgres-store.conformance.test.ts',
  'e2e/src/examples.test.ts',
  'e2e/src/kills/child-runs.test.ts',
  'e2e/src/kills/misbehaviour.test.ts',
  'packages/server/src/rest/events.test.ts',
  'e2e/src/first-hour-trouble.test.ts',
  'packages/compiler/src/module/compile-module.test.ts',
  'packages/engine/src/propagate/graph.property.test.ts',
  'packages/store/src/retention.test.ts',
  'packages/server/src/clock-ahead.test.ts',
];

export class LongestFirst extends BaseSequencer {
  async sort(files) {
    const rest = await super.sort(files);
    const missing = LONGEST.filter((path) => !existsSync(`${this.ctx.config.root}/${path}`));
    if (missing.length > 0)
      throw new Error(`scripts/test-order.mjs names files that do not exist: ${missing.join(', ')}`);
    const place = (file) => LONGEST.findIndex((path) => file.moduleId === `${this.ctx.config.root}/${path}`) >>> 0;
    // A process is kept for the next file only if that shares it, too: such files come after all others.
    const sharing = (file) => Number(file.project.config.isolate === false);
    return rest.toSorted((a, b) => sharing(a) - sharing(b) || place(a) - place(b));
  }
}
