import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { ofDag, ofKinds, ofRun, readDigest } from './digest.ts';
import { Refresher } from './refresher.ts';

const digest = (more: object) => readDigest(JSON.stringify(more));

test('a view that is looked at is read again when it is concerned, one request at a time, and rests the longer the slower it was', async () => {
  const client = new QueryClient();
  let now = 0;
  let reads = 0;
  let finish: () => void = () => undefined;
  const observer = new QueryObserver(client, {
    queryKey: ['run', 'r1'],
    queryFn: () => {
      reads += 1;
      return new Promise<number>((resolve) => (finish = () => resolve(reads)));
    },
    meta: { concern: ofRun('r1') },
  });
  const stop = observer.subscribe(() => undefined);
  const settle = async () => {
    finish();
    await new Promise((resolve) => setTimeout(resolve, 0));
  };
  await settle();
  const refresher = new Refresher(client, () => now);
  refresher.note(digest({ runs: ['other'] }));
  expect(reads).toBe(1);
  refresher.note(digest({ runs: ['r1'] }));
  refresher.note(digest({ runs: ['r1'] }));
  expect(reads).toBe(2);
  now += 1_000; // The read took a second.
  await settle();
  refresher.tick();
  expect(reads).toBe(2);
  now += 3_999;
  refresher.tick();
  expect(reads).toBe(2);
  now += 1;
  refresher.tick();
  expect([reads, refresher.isIdle]).toEqual([3, true]);
  await settle();
  stop();
});

test('what nobody looks at is only marked as old', async () => {
  const client = new QueryClient();
  let reads = 0;
  await client.prefetchQuery({ queryKey: ['dags'], queryFn: () => (reads += 1), meta: { concern: ofKinds('dag') } });
  const refresher = new Refresher(client);
  refresher.note(digest({ kinds: ['dag.deployed'] }));
  expect([reads, client.getQueryState(['dags'])?.isInvalidated, refresher.isIdle]).toEqual([1, true, true]);
});

test.each([
  [ofDag('etl'), { dags: ['etl'] }, true],
  [ofDag('etl'), { dags: ['mail'] }, false],
  [ofDag('etl'), { dags: ['mail'], more: true }, true],
  [ofKinds('run', 'task'), { kinds: ['run.ended'] }, true],
  [ofKinds('run', 'task'), { kinds: ['runner.x'] }, false],
])('a concern knows its digests (%#)', (concern, seen, expected) => {
  expect(concern(digest(seen))).toBe(expected);
});
