import type { CloudEvent } from '@signalbox/protocol';
import { openQueries, type Queries } from '@signalbox/store';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Rig, startRig } from '../testing/rig.ts';
import { type ListedObject, ObjectWatch, type ObjectWatchParts } from './object-watch.ts';

let rig: Rig;
let queries: Queries;
beforeAll(async () => {
  rig = await startRig();
  queries = await openQueries({ url: rig.databaseUrl });
});
afterAll(async () => {
  await queries.close();
  await rig.stop();
});

let lastNo = 0;

/** A bucket of its own, with pages of two. Each `server` is one with its own memory, on the same database. */
function bucketOf() {
  lastNo += 1;
  const name = `in-${lastNo}`;
  const objects = new Map<string, ListedObject>();
  const sent: CloudEvent[] = [];
  const complaints: object[] = [];
  const put = (key: string, modifiedAt = 1_000, etag = 'a') => objects.set(key, { key, modifiedAt, etag, size: 3 });
  const server = (more: Partial<ObjectWatchParts> = {}) =>
    new ObjectWatch({
      watched: { name, bucket: 'shop', prefix: '' },
      store: async () => ({
        list: async (_watched, from) => {
          const left = [...objects.values()].filter(({ key }) => from === null || key > from);
          const page = left.sort((a, b) => (a.key < b.key ? -1 : 1)).slice(0, 2);
          return { objects: page, next: left.length > 2 ? page[1]!.key : null };
        },
        close: () => {},
      }),
      queries,
      send: async (event) => sent.push(event),
      complain: (_, details) => complaints.push(details),
      lookMs: 0,
      ...more,
    });
  return { objects, sent, complaints, put, server, keys: () => sent.map(({ subject }) => subject) };
}

test('a new object becomes an event; what lay there before does not, over pages and restarts', async () => {
  const { objects, sent, put, server, keys } = bucketOf();
  for (const key of ['a', 'b', 'c', 'd', 'e']) put(key);
  const one = server();
  await one.runOnce();
  expect(sent).toEqual([]);
  put('c1');
  put('f', 2_000);
  await one.runOnce();
  await server().runOnce();
  expect(keys()).toEqual(['c1', 'f']);
  expect(sent[1]).toMatchObject({
    ...{ type: 'signalbox.object.created', subject: 'f', time: '1970-01-01T00:00:02.000Z' },
    data: { bucket: 'shop', key: 'f', url: 's3://shop/f', size: 3, etag: 'a' },
  });
  put('a', 3_000, 'b');
  objects.delete('e');
  await one.runOnce();
  put('e');
  await one.runOnce();
  await one.runOnce();
  expect(keys(), 'written again, and gone and back').toEqual(['c1', 'f', 'a', 'e']);
  expect(new Set(sent.map(({ id }) => id)).size).toBe(4);
});

test('one server looks at a time; one that was paused for too long stops', async () => {
  const { put, server, keys } = bucketOf();
  let goOn = () => {};
  let begun = () => {};
  const isBegun = new Promise<void>((resolve) => (begun = resolve));
  const isPaused = new Promise<void>((resolve) => (goOn = resolve));
  const [first, other] = [server(), server()];
  await first.runOnce();
  for (const key of ['a', 'b', 'c']) put(key);
  const paused = server({
    send: async () => {
      begun();
      await isPaused;
    },
  });
  const round = paused.runOnce();
  await isBegun;
  expect(await other.runOnce()).toBe(false);
  await rig.sql("update object_watch set busy_until = now() - interval '1 s'");
  expect(await other.runOnce()).toBe(true);
  expect(keys()).toEqual(['a', 'b', 'c']);
  goOn();
  await round;
  expect(keys(), 'the one that was paused sends nothing more').toEqual(['a', 'b', 'c']);
});

test('an event whose object could not be stored is sent again under the same id', async () => {
  const { sent, put, server } = bucketOf();
  await server().runOnce();
  put('a');
  const failing = { ...queriesOf(), keepWatchedObjects: () => Promise.reject(new Error('the database is away')) };
  await expect(server({ queries: failing }).runOnce()).rejects.toThrow('the database is away');
  await server().runOnce();
  expect(sent.map(({ subject }) => subject)).toEqual(['a', 'a']);
  expect(sent[0]?.id).toBe(sent[1]?.id);
});

test('too many are told once, and those within the limit are looked at', async () => {
  const { put, server, complaints, keys } = bucketOf();
  const one = server({ mostObjects: 4 });
  await one.runOnce();
  for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) put(key);
  await one.runOnce();
  await one.runOnce();
  expect(keys()).toEqual(['a', 'b', 'c', 'd']);
  expect(complaints).toMatchObject([{ prefix: 's3://shop/', what: expect.stringContaining('more than 4 objects') }]);
});

function queriesOf(): ObjectWatchParts['queries'] {
  const { claimObjectWatch, renewObjectWatch, findWatchedObjects, keepWatchedObjects, dropGoneObjects } = queries;
  return { claimObjectWatch, renewObjectWatch, findWatchedObjects, keepWatchedObjects, dropGoneObjects };
}
