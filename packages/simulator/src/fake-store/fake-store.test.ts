/** What is the fake's own: its faults, its clock, its journal, and that a seed repeats. Its promises are in the conformance suite. */
import type {
  Actor,
  DagId,
  Epoch,
  Instant,
  NodeId,
  RunId,
  ShardNo,
  TenantId,
  VersionNo,
  WorkerId,
} from '@signalbox/engine';
import type { Violation } from '@signalbox/engine/testing';
import type { CommitBatch, CommitChain } from '@signalbox/store';
import { describe, expect, test } from 'vitest';
import { FakeDatabase } from './database.ts';
import { FakeStore } from './fake-store.ts';
import type { DatabaseFaults, Step } from './faults.ts';
import { VirtualScheduler } from './virtual-scheduler.ts';

const nodeId = 'node-a' as NodeId;
const shard = 3 as ShardNo;
const workerId = 'worker-1' as WorkerId;

async function setUp({ seed = 1, faults }: { seed?: number; faults?: DatabaseFaults } = {}) {
  const scheduler = new VirtualScheduler(seed);
  const violations: Violation[] = [];
  const database = new FakeDatabase({ scheduler, onViolation: (violation) => violations.push(violation) });
  const store = new FakeStore(database, { name: 'a' });
  const settle = <T>(promise: Promise<T>) => scheduler.settle(promise);
  await settle(
    store.registerNode({ nodeId, peerAddress: 'a:1', gatewayAddress: 'a:2', dataAddress: 'a:3', version: '1.2.3' }),
  );
  const taken = await settle(
    store.takeShards({ nodeId, shards: [{ shard, seenEpoch: 0 as Epoch }], lockTimeoutMs: 100, windowGraceMs: 10_000 }),
  );
  const chain = await settle(store.openChain(nodeId));
  if (faults !== undefined) database.faults = faults;
  return { scheduler, database, store, settle, chain, violations, epoch: taken[0]?.epoch ?? (0 as Epoch) };
}

function silence(epoch: Epoch, commitNo: number): CommitBatch {
  const stamp = { shard, epoch, commitNo, lastRunId: 0 as RunId, lastDagNo: 0 };
  return { shards: [stamp], changes: [{ kind: 'WorkerSilenced', shard, workerId }], at: 1_000 as Instant };
}

const strikeOnce = (point: Step['point'], fault: ReturnType<DatabaseFaults['onStep']>): DatabaseFaults => {
  let struck = false;
  return {
    onStep: (step) => {
      if (struck || step.point !== point || step.call !== 'commit') return 'ok';
      struck = true;
      return fault;
    },
  };
};

const failureOf = (chain: CommitChain, batch: CommitBatch) =>
  chain.commit(batch).then(
    () => 'done',
    (error: { failure: string }) => error.failure,
  );

test('the same seed gives the same events at the same instants', async () => {
  const run = async (seed: number) => {
    const { scheduler, settle, chain, epoch } = await setUp({ seed });
    await settle(Promise.all([1, 2, 3].map((commitNo) => chain.commit(silence(epoch, commitNo)))));
    return scheduler.trace;
  };
  expect(await run(7)).toEqual(await run(7));
  expect(await run(7)).not.toEqual(await run(8));
});

describe('a fault at each step', () => {
  test.each([
    ['begin', 'cut', 'unknown', 0],
    ['fence', 'cut', 'unknown', 0],
    ['write', 'cut', 'unknown', 0],
    ['commit', 'cut', 'unknown', 0],
    ['answer', 'cut', 'unknown', 1],
    ['answer', 'refuse', 'unknown', 1],
    ['commit', 'half-open', 'unknown', 0],
    ['fence', 'refuse', 'refused', 0],
    ['commit', 'refuse', 'refused', 0],
    ['commit', { delayMs: 5_000 }, 'done', 1],
  ] as const)('at %s: %j tells the caller %s with %i commits done', async (point, fault, told, done) => {
    const { settle, chain, epoch, database } = await setUp({ faults: strikeOnce(point, fault) });
    expect(await settle(failureOf(chain, silence(epoch, 1)))).toBe(told);
    expect(database.journal.filter(({ kind }) => kind === 'commit')).toHaveLength(done);
  });
});

test('a lost connection that the database has not noticed keeps its lock until a take ends it (I18)', async () => {
  const { settle, chain, epoch, database, store, scheduler } = await setUp({
    faults: strikeOnce('write', 'half-open'),
  });
  expect(await settle(failureOf(chain, silence(epoch, 1)))).toBe('unknown');
  expect(database.locks.holder(shard)).toBeDefined();
  const before = scheduler.now();
  const taken = await settle(
    store.takeShards({ nodeId, shards: [{ shard, seenEpoch: epoch }], lockTimeoutMs: 500, windowGraceMs: 10_000 }),
  );
  expect(taken).toEqual([{ shard, epoch: epoch + 1, loadCount: 2, currentRun: null }]);
  expect(scheduler.now() - before).toBeGreaterThanOrEqual(500);
});

test('a stopped database fails every call and loses nothing that was committed (I60)', async () => {
  const { settle, chain, epoch, database, store, scheduler } = await setUp();
  await settle(chain.commit(silence(epoch, 1)));
  database.stop({ kind: 'silent', giveUpMs: 9_000 });
  const before = scheduler.now();
  await expect(settle(store.observe())).rejects.toThrow('down');
  expect(scheduler.now() - before).toBe(9_000);
  expect(await settle(failureOf(chain, silence(epoch, 2)))).toBe('unknown');
  database.start();
  const { shards } = await settle(store.loadHeads([shard], 10));
  expect(shards[0]).toMatchObject({ epoch, commitNo: 1, silentWorkers: [{ workerId }] });
});

test('how long a worker is silent is told by the clock of the database', async () => {
  const { settle, chain, epoch, database, store } = await setUp();
  await settle(chain.commit(silence(epoch, 1)));
  database.jumpClock(60_000);
  const { shards } = await settle(store.loadHeads([shard], 10));
  expect(shards[0]?.silentWorkers[0]?.silentMs).toBeGreaterThanOrEqual(60_000);
});

test('a commit that breaks a constraint is refused, undone and reported', async () => {
  const { settle, chain, epoch, database, store, violations } = await setUp();
  const at = 1_000 as Instant;
  const actor = 'system' as Actor;
  const orphan = { kind: 'RunAdmitted', runId: (shard * 65_536) as RunId, at } as const;
  const spec = { tasks: [], priority: 'normal', maxActiveRuns: null, maxActiveTasks: null, schedule: null } as const;
  const ids = { shard, tenantId: 1 as TenantId, dagId: 1 as DagId, versionNo: 1 as VersionNo };
  const deploy = { kind: 'DagDeployed', ...ids, name: 'd', hash: 'h', spec, actor, at } as const;
  const batch = { ...silence(epoch, 1), changes: [deploy, orphan] };
  expect(await settle(failureOf(chain, batch))).toBe('refused');
  expect(violations.map(({ message }) => message)).toEqual(['a changed run is live']);
  expect(database.tables.dags.size).toBe(0);
  expect((await settle(store.loadHeads([shard], 10))).shards[0]?.commitNo).toBe(0);
});

test('a killed node is told nothing, and what it had sent is done', async () => {
  const { chain, epoch, database, store, scheduler } = await setUp();
  let heard = false;
  void chain.commit(silence(epoch, 1)).finally(() => {
    heard = true;
  });
  store.kill();
  while (scheduler.runNext()) await Promise.resolve();
  expect(heard).toBe(false);
  expect(database.journal.at(-1)).toMatchObject({ kind: 'commit', nodeId, shards: [{ shard, epoch, commitNo: 1 }] });
});
