import { expect, test } from 'vitest';
import { type Leaving, Outbox } from './outbox.ts';

function deferred() {
  let resolve: () => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}

function setUp() {
  const said: string[] = [];
  const outbox = new Outbox(
    (batchNo) => said.push(`settled ${batchNo}`),
    (error) => {
      said.push(`failure ${String(error)}`);
      outbox.abandon('gone');
    },
  );
  const leaving = (batchNo: number, committed: Promise<void>): Leaving => ({
    batchNo,
    committed,
    send: () => said.push(`sent ${batchNo}`),
    fail: (reason) => said.push(`failed ${batchNo} ${reason}`),
  });
  return { said, outbox, leaving };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('nothing leaves before its commit, and what rests on a batch in flight waits for it (I15)', async () => {
  const { said, outbox, leaving } = setUp();
  const first = deferred();
  outbox.sendAfter(leaving(1, first.promise));
  outbox.sendAfter(leaving(2, Promise.resolve())); // a refusal: it changed nothing, but may rest on batch 1
  await turn();
  expect(said).toEqual([]);
  first.resolve();
  await turn();
  expect(said).toEqual(['settled 1', 'sent 1', 'settled 2', 'sent 2']);
});

test('after a failed commit nothing behind it is sent, though its own commit went through (I16)', async () => {
  const { said, outbox, leaving } = setUp();
  const first = deferred();
  outbox.sendAfter(leaving(1, first.promise));
  outbox.sendAfter(leaving(2, Promise.resolve()));
  first.reject(new Error('fenced'));
  await turn();
  expect(said).toEqual(['failure Error: fenced', 'failed 1 gone', 'failed 2 gone']);
});

test('whoever waits for room is told when there is some, also when all is abandoned', async () => {
  const { outbox, leaving } = setUp();
  const first = deferred();
  outbox.sendAfter(leaving(1, first.promise));
  const idle = outbox.whenIdle();
  outbox.abandon('gone');
  await expect(idle).resolves.toBeUndefined();
});
