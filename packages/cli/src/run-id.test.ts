import type { Client, RunFilter, RunPage } from '@signalbox/sdk';
import { expect, test } from 'vitest';
import { resolveRun } from './run-id.ts';

/** A server's list: each page of `mine` in turn, and the newest run of anybody. */
function listing(mine: readonly (string | null)[], newest: string | null): Pick<Client, 'listRuns'> {
  const page = (id: string | null, cursor: string | null) =>
    ({ items: id === null ? [] : [{ id }], cursor }) as unknown as RunPage;
  return {
    listRuns: async (filter: RunFilter = {}) => {
      if (filter.mine !== true) return page(newest, null);
      const at = Number(filter.cursor ?? 0);
      return page(mine[at] ?? null, at + 1 < mine.length ? String(at + 1) : null);
    },
  };
}

test.each([
  ['an id', 'r7', ['own'], 'other', 'r7'],
  ['last', 'last', ['own'], 'other', 'own'],
  ['last, where the first pages are empty', 'last', [null, null, 'own'], 'other', 'own'],
  ['last, of somebody who has made none', 'last', [], 'other', 'other'],
] as const)('%s names the run that the caller means', async (_, given, mine, newest, expected) => {
  expect(await resolveRun(listing(mine, newest), given)).toBe(expected);
});

test('last with no run at all says how to make one', async () => {
  await expect(resolveRun(listing([], null), 'last')).rejects.toThrow('There are no runs yet.');
});
