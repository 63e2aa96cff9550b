import type { AttemptNo, ClaimRef, Epoch, Fence, QueueName, RunId, RunUid, ShardNo, TaskNo } from '@signalbox/engine';
import type { Assignment } from '@signalbox/host';
import type { GatewayMessageParts } from '@signalbox/protocol/grpc';
import { expect, test } from 'vitest';
import { WorkerOutbox } from './worker-outbox.ts';

const named = { nodeId: 'n', workerId: 'w', shared: false };
const welcome = { ...named, heartbeatMs: 1, leaseMs: 2, gateways: [], dataAddress: '', pingMs: 0 };
const claim = (no: number): ClaimRef => ({
  runId: no as RunId,
  taskNo: 0 as TaskNo,
  attemptNo: 1 as AttemptNo,
  fence: 1 as Fence,
});

const assignment = (no: number, params: string | null = null): Assignment => ({
  shard: 0 as ShardNo,
  epoch: 1 as Epoch,
  claim: claim(no),
  token: '',
  tenant: 't',
  dag: 'd',
  version: 1,
  run: 'r' as RunUid,
  taskName: 'a',
  handler: 'h',
  work: '',
  bundle: '',
  queue: 'q' as QueueName,
  timeoutMs: 0,
  effectKey: 'k',
  params,
  upstream: [],
  failedUpstream: [],
  missingUpstream: [],
  runInfo: '',
  map: [],
  checkpoint: '',
  memoryBytes: 0,
  softTimeoutMs: 0,
  stuckMs: 0,
  references: [],
});

function makeOutbox() {
  const sent: GatewayMessageParts[] = [];
  const waiting: (() => void)[] = [];
  const ended: string[] = [];
  const outbox = new WorkerOutbox(
    {
      write: (parts, written) => {
        sent.push(parts);
        waiting.push(written);
      },
      end: (reason) => ended.push(reason),
    },
    welcome,
  );
  /** The worker reads everything, and what that sets free. */
  const readAll = async () => {
    await Promise.resolve();
    for (let written = waiting.shift(); written !== undefined; written = waiting.shift()) {
      written();
      await Promise.resolve();
    }
  };
  return { outbox, sent, ended, readAll };
}

test('what is said in one turn goes in one message, with the welcome', async () => {
  const { outbox, sent, readAll } = makeOutbox();
  outbox.epochs([{ shard: 3 as ShardNo, epoch: 5 as Epoch }]);
  outbox.epochs([{ shard: 3 as ShardNo, epoch: 4 as Epoch }]);
  outbox.assign([assignment(1)]);
  outbox.answer([{ claim: claim(2), verdict: 'accepted' }]);
  outbox.answer([{ claim: claim(3), verdict: 'stale' }]);
  outbox.kill([{ claim: claim(4), reason: 'cancelled', graceMs: 5 }]);
  outbox.heartbeatAnswered(9);
  await readAll();
  expect(sent).toHaveLength(1);
  expect(sent[0]).toMatchObject({
    welcome,
    epochs: [{ shard: 3, epoch: 5 }],
    heartbeatAnswered: 9,
    answers: [{ verdict: 'accepted' }, { verdict: 'stale' }],
    kills: [{ graceMs: 5 }],
    assignments: [{ dag: 'd' }],
  });
});

test('messages are cut where they grow large, and keep their order', async () => {
  const { outbox, sent, readAll } = makeOutbox();
  outbox.assign(Array.from({ length: 100 }, (_, i) => assignment(i, 'x'.repeat(200_000))));
  outbox.answer(Array.from({ length: 5_000 }, (_, i) => ({ claim: claim(i), verdict: 'accepted' }) as const));
  await readAll();
  expect(sent.flatMap((parts) => parts.assignments ?? []).map((sentOne) => sentOne.claim.runId)).toEqual(
    Array.from({ length: 100 }, (_, i) => i),
  );
  expect(sent.flatMap((parts) => parts.answers ?? [])).toHaveLength(5_000);
  for (const parts of sent) {
    expect(parts.assignments?.length ?? 0).toBeLessThanOrEqual(6);
    expect(parts.answers?.length ?? 0).toBeLessThanOrEqual(2_000);
  }
});

test('a worker that does not read is written to no more, and loses its stream when too much waits (I73)', async () => {
  const { outbox, sent, ended } = makeOutbox();
  for (let i = 0; i < 250; i++) {
    outbox.answer(Array.from({ length: 1_000 }, (_, no) => ({ claim: claim(no), verdict: 'accepted' }) as const));
    await Promise.resolve();
  }
  expect(sent.length).toBeLessThanOrEqual(4);
  expect(ended).toEqual(['slow']);
});

test('what was said before it is closed is still sent', async () => {
  const { outbox, sent, ended } = makeOutbox();
  outbox.drain();
  outbox.close();
  expect(sent).toEqual([{ welcome, drain: true }]);
  expect(ended).toEqual(['closed']);
});
