/** The same writes without engine, host, wire and worker: what PostgreSQL alone carries on this machine, in this run. */
import { randomUUID } from 'node:crypto';
import {
  type Actor,
  type AttemptNo,
  type Change,
  type DagId,
  type Fence,
  type Instant,
  makeRunUid,
  type NodeId,
  nextRunId,
  type RunId,
  type ShardNo,
  type TaskNo,
  type TenantId,
  type VersionNo,
  type WorkerId,
} from '@signalbox/engine';
import { createDatabase, startTestPostgres } from '@signalbox/postgres/testing';
import { migrate, openPostgresStore } from '@signalbox/store';
import type { Figure } from './figure.ts';

const shard = 1 as ShardNo;
const actor = 'bench' as Actor;

export async function rawCommits(tasks: number, group: number): Promise<Figure[]> {
  const server = await startTestPostgres({ durable: true });
  try {
    const url = await createDatabase(server);
    await migrate(url);
    const store = await openPostgresStore({ url });
    const nodeId = randomUUID() as NodeId;
    await store.registerNode({ nodeId, peerAddress: '', gatewayAddress: '', dataAddress: '', version: '' });
    const [taken] = await store.takeShards({
      nodeId,
      shards: [{ shard, seenEpoch: 0 as never }],
      lockTimeoutMs: 1_000,
      windowGraceMs: 10_000,
    });
    const chain = await store.openChain(nodeId);
    const epoch = taken!.epoch;
    let [commitNo, lastRunId] = [0, 0 as RunId];
    const commit = (changes: readonly Change[]) => {
      commitNo += 1;
      return chain.commit({
        shards: [{ shard, epoch, commitNo, lastRunId, lastDagNo: 0 }],
        changes,
        at: Date.now() as Instant,
      });
    };
    const workerId = randomUUID() as WorkerId;
    let before: Promise<void> = Promise.resolve();
    const began = performance.now();
    for (let done = 0; done < tasks; done += group) {
      const now = Date.now() as Instant;
      const ids = Array.from({ length: group }, () => (lastRunId = nextRunId(shard, lastRunId, now)));
      const claimed = commit(ids.flatMap((runId) => begin(runId, now, workerId)));
      const ended = commit(ids.flatMap((runId) => end(runId, now, workerId)));
      // Two in flight, as the host has them.
      await before;
      await claimed;
      before = ended;
    }
    await before;
    const ms = performance.now() - began;
    await chain.close();
    await store.close();
    const what = `raw PostgreSQL, the same writes in groups of ${group}`;
    return [{ what, value: (tasks / ms) * 1_000, unit: 'tasks/s' }];
  } finally {
    await server.stop();
  }
}

function begin(runId: RunId, at: Instant, workerId: WorkerId): Change[] {
  const task = { runId, taskNo: 0 as TaskNo, attemptNo: 1 as AttemptNo, fence: 1 as Fence, workerId };
  return [
    {
      kind: 'RunCreated',
      runId,
      uid: makeRunUid(shard, at, Math.random() * 2 ** 48, Math.random() * 2 ** 26),
      tenantId: 1 as TenantId,
      dagId: 65 as DagId,
      versionNo: 1 as VersionNo,
      priority: 'normal',
      cause: 'api',
      firesAt: null,
      admitted: true,
      params: null,
      facts: null,
      actor,
      at,
    },
    { kind: 'AttemptClaimed', ...task, firstOfTask: true, firstOfRun: true, at },
  ];
}

function end(runId: RunId, at: Instant, workerId: WorkerId): Change[] {
  const task = { runId, taskNo: 0 as TaskNo, attemptNo: 1 as AttemptNo, fence: 1 as Fence, workerId };
  return [
    {
      kind: 'AttemptEnded',
      ...task,
      outcome: 'succeeded',
      taskState: 'succeeded',
      claimedAt: at,
      startedAt: at,
      endedAt: at,
      retryAt: null,
      lostCount: 0,
      fingerprint: null,
      quick: null,
      output: null,
      facts: null,
      error: null,
      code: null,
    },
    { kind: 'RunClosing', runId, outcome: 'succeeded', actor, at },
    { kind: 'RunEnded', runId, outcome: 'succeeded', at },
  ];
}
