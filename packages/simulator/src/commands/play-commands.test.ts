import { expect, test } from 'vitest';
import { playCommands } from './play-commands.ts';

const FIXED_SEEDS = 20;

test('one seed gives one history', () => {
  expect(playCommands(5).lines).toEqual(playCommands(5).lines);
  expect(playCommands(5).lines).not.toEqual(playCommands(6).lines);
});

test('nothing is broken in a fixed set of histories of the engine alone', { timeout: 300_000 }, () => {
  for (let seed = 1; seed <= FIXED_SEEDS; seed++) expect([seed, playCommands(seed).finding]).toEqual([seed, null]);
});
