import { expect, test } from 'vitest';
import { parseOptions } from './options.ts';

const FRESH = 777;
const UNBOUNDED = Number.POSITIVE_INFINITY;
const options = (...args: string[]) => parseOptions(args, FRESH);

test.each([
  ['plays fresh seeds for a minute', [], { firstSeed: FRESH, histories: UNBOUNDED, minutes: 1 }],
  ['plays one seed in both modes', ['--seed', '42'], { firstSeed: 42, histories: 2, minutes: UNBOUNDED }],
  ['plays one seed in one mode', ['--seed', '42', '--mode', 'safety'], { firstSeed: 42, histories: 1 }],
  ['plays the engine alone only if asked', ['--seed', '42', '--mode', 'engine'], { modes: ['engine'], histories: 1 }],
  ['plays so many from a seed on', ['--from', '9', '--histories', '20000'], { firstSeed: 9, histories: 20_000 }],
  ['plays for so long', ['--minutes', '0.5'], { minutes: 0.5, histories: UNBOUNDED }],
  ['uses more than one core', ['--jobs', '2'], { jobs: 2 }],
] as const)('%s', (_, args, expected) => {
  expect(options(...args)).toMatchObject(expected);
});

test.each([
  [['--mode', 'both'], '--mode is "both". Use safety, liveness or engine.'],
  [['--histories', '0'], '--histories is "0". Use a whole number, 1 or more.'],
  [['--seed', 'x'], '--seed is "x". Use a whole number, 0 or more.'],
  [['--minutes', '0'], '--minutes is "0". Use a number above 0.'],
  [['--seed', '1', '--from', '2'], '--seed plays one seed, --from begins with it. Use one of them.'],
] as const)('refuses %j', (args, message) => {
  expect(() => options(...args)).toThrow(message);
});
