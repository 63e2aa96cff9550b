import { SHARD_COUNT } from '@signalbox/engine';
import { expect, test } from 'vitest';
import { EventFeed } from './feed.ts';

const cutAt = (no: number) => Array.from({ length: SHARD_COUNT }, () => no);

test('who reads the journal from many places at once leaves connections to others (I68)', async () => {
  const release: (() => void)[] = [];
  const queries = {
    readCut: async () => cutAt(100),
    readOldestCut: async () => null,
    readCommits: () => new Promise<never[]>((resolve) => release.push(() => resolve([]))),
    nameRuns: async () => [],
    nameDags: async () => [],
    nameTasks: async () => [],
  };
  const feed = new EventFeed(queries as unknown as ConstructorParameters<typeof EventFeed>[0]);
  await feed.look();
  const reads = [1, 2, 3, 4, 5].map((no) => feed.read({ cut: cutAt(no), part: null }).catch(() => 'nothing there'));
  await new Promise((resolve) => setImmediate(resolve));
  expect(release).toHaveLength(2);
  for (let done = 0; done < 5; done++) {
    release[done]?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect(release).toHaveLength(Math.min(5, done + 3));
  }
  expect(await Promise.all(reads)).toEqual(Array.from({ length: 5 }, () => 'nothing there'));
});
