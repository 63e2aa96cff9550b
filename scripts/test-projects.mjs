/**
 * Which test files share a process. To load the same modules again cost each file of the engine a second of a core.
 * See docs/decisions/0220-test-files-share-a-process.md.
 */
import { configDefaults } from 'vitest/config';

/** Files here leave nothing behind: no changed environment, no listener of the process, no clock that was replaced. */
const SHARED = ['engine', 'host', 'protocol', 'sdk'];

/** These do, or they look at all of their process: its environment, threads or memory. */
const ALONE = ['packages/engine/src/memory.test.ts'];

const others = `packages/!(${SHARED.join('|')})/src/**/*.test.ts`;

export const PROJECTS = [
  {
    extends: true,
    test: {
      name: 'alone',
      include: [others, 'bench/src/**/*.test.ts', 'e2e/src/**/*.test.ts', ...ALONE],
    },
  },
  {
    extends: true,
    test: {
      name: 'shared',
      include: SHARED.map((name) => `packages/${name}/src/**/*.test.ts`),
      exclude: [...configDefaults.exclude, ...ALONE],
      isolate: false,
    },
  },
];
