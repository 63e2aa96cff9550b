import { expect, test } from 'vitest';
import type { Ask } from '../database.ts';
import { KnownSpecs, type VersionKey } from './known-specs.ts';

/** A database in which version v has v tasks. */
function database() {
  const asked: number[] = [];
  const ask = (async ([read]: Parameters<Ask>[0]) => {
    const versionNo = Number(read?.values[2]);
    asked.push(versionNo);
    return [{ rows: [[JSON.stringify({ tasks: Array.from({ length: versionNo }, () => ({})) })]] }];
  }) as unknown as Ask;
  return { ask, asked };
}
const version = (versionNo: number) => ({ shard: 1, dagId: 7, versionNo }) as VersionKey;

test('a spec is read once, and those not asked for lately make room for others', async () => {
  const { ask, asked } = database();
  const specs = new KnownSpecs(10);
  const first = await specs.read(ask, version(4));
  expect(await specs.read(ask, version(4))).toBe(first);
  await specs.read(ask, version(5));
  await specs.read(ask, version(4));
  // Together 12 tasks: version 5 was asked for before version 4.
  await specs.read(ask, version(3));
  await specs.read(ask, version(4));
  expect(asked).toEqual([4, 5, 3]);
  await specs.read(ask, version(5));
  expect(asked).toEqual([4, 5, 3, 5]);
});

test('one that is larger than all the room is kept alone', async () => {
  const { ask, asked } = database();
  const specs = new KnownSpecs(10);
  await specs.read(ask, version(4));
  await specs.read(ask, version(30));
  await specs.read(ask, version(30));
  await specs.read(ask, version(4));
  expect(asked).toEqual([4, 30, 4]);
});
