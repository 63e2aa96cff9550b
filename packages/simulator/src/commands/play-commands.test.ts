import { expect, test } from 'vitest';
import { playCommands } from './play-commands.ts';

const FIXED_SEEDS = 20;
/** Histories that once broke something. What broke has a scenario of its own. */
const FOUND: readonly number[] = [];

test('one seed gives one history', () => {
  expect(playCommands(5).lines).toEqual(playCommands(5).lines);
  expect(playCommands(5).lines).not.toEqual(playCommands(6).lines);
});

test('nothing is broken in a fixed set of histories of the engine alone', { timeout: 300_000 }, () => {
  for (const seed of [...FOUND, ...Array.from({ length: FIXED_SEEDS }, (_, no) => no + 1)]) {
    expect([seed, playCommands(seed).finding]).toEqual([seed, null]);
  }
});
