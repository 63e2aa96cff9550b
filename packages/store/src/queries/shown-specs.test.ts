import type { DagId, ShardNo, VersionNo } from '@signalbox/engine';
import { expect, test } from 'vitest';
import type { Ask } from '../database.ts';
import { ShownSpecs, shownOf } from './shown-specs.ts';

const version = (no: number) => ({ shard: 3 as ShardNo, dagId: 7 as DagId, versionNo: no as VersionNo });

/** Answers for the versions that it is asked for, and notes them. */
function store() {
  const asked: string[] = [];
  const ask = (async ([one]: readonly { readonly values: readonly unknown[] }[]) => {
    const nos = String(one?.values[2]).replaceAll(/[{}]/g, '').split(',');
    asked.push(nos.join());
    return [{ rows: nos.map((no) => ['3', '7', no, JSON.stringify({ priority: 'low', taskCount: Number(no) })]) }];
  }) as unknown as Ask;
  return { asked, ask };
}

test('a version is read once, and each is in its place', async () => {
  const { asked, ask } = store();
  const specs = new ShownSpecs();
  const counts = async (...nos: number[]) => (await specs.read(ask, nos.map(version))).map((one) => one.taskCount);
  expect(await counts(5, 2)).toEqual([5, 2]);
  expect(await counts(2, 9, 5)).toEqual([2, 9, 5]);
  expect(await counts(9)).toEqual([9]);
  expect(asked).toEqual(['5,2', '9']);
});

test('no more than so many are kept, also when more are asked for at once', async () => {
  const { asked, ask } = store();
  const specs = new ShownSpecs(2);
  expect((await specs.read(ask, [1, 2, 3].map(version))).map((one) => one.taskCount)).toEqual([1, 2, 3]);
  await specs.read(ask, [version(3)]);
  await specs.read(ask, [version(1)]);
  expect(asked).toEqual(['1,2,3', '1']);
});

test('a whole spec shows what was read of one', () => {
  const spec = { priority: 'high', tags: ['a'], tasks: [{}, {}] } as never;
  expect(shownOf(spec)).toMatchObject({ priority: 'high', tags: ['a'], owner: null, taskCount: 2 });
});
