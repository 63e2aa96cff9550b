/** Makes changes that are valid after one another, with ids as the engine would give them. */
import { randomUUID } from 'node:crypto';
import type {
  Actor,
  AttemptClaimed,
  AttemptEnded,
  AttemptNo,
  DagDeployed,
  DagId,
  DagSpec,
  Fence,
  Instant,
  KeyStored,
  QueueName,
  RunCreated,
  RunEnded,
  RunId,
  RunUid,
  ShardNo,
  TaskNo,
  TenantId,
  VersionNo,
  WorkerId,
} from '@signalbox/engine';
import { SHARD_COUNT } from '@signalbox/engine';

export const TENANT = { tenantId: 1 as TenantId, tenant: 'default' } as const;
export const ACTOR = 'token:test' as Actor;
export const START = Date.UTC(2026, 0, 1) as Instant;

const RETRY = { maxAttempts: 3, minMs: 0, baseMs: 1_000, factor: 2, maxMs: 60_000, maxLost: 2 } as const;

export function specOf(taskCount: number): DagSpec {
  const tasks = Array.from({ length: taskCount }, (_, no) => ({
    name: `task "${no}" – λ`,
    handler: `handlers.step${no}`,
    queue: 'default' as QueueName,
    needs: no === 0 ? [] : [no - 1],
    retry: RETRY,
    timeoutMs: no % 2 === 0 ? null : 60_000,
  }));
  return { tasks, priority: 'normal', maxActiveRuns: 3, maxActiveTasks: null, schedule: null };
}

export function newWorkerId(): WorkerId {
  return randomUUID() as WorkerId;
}

/** A UUID v7 whose last two digits are the shard. */
export function newUid(shard: ShardNo): RunUid {
  const time = Date.now().toString(16).padStart(12, '0');
  const chance = randomUUID();
  const tail = chance.slice(24, 34) + shard.toString(16).padStart(2, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${chance.slice(15, 18)}-${chance.slice(19, 23)}-${tail}` as RunUid;
}

function dagIdOf(shard: ShardNo, dagNo: number): DagId {
  return (dagNo * SHARD_COUNT + shard) as DagId;
}

export function dagNoOf(dagId: DagId): number {
  return Math.floor(dagId / SHARD_COUNT);
}

export function deployed(shardNo: number, dagNo: number, versionNo = 1, at: Instant = START): DagDeployed {
  const shard = shardNo as ShardNo;
  const { tenantId } = TENANT;
  const ids = { shard, tenantId, dagId: dagIdOf(shard, dagNo), versionNo: versionNo as VersionNo };
  const name = `dag ${shard}/${dagNo} 'quoted' {x}`;
  return { kind: 'DagDeployed', ...ids, name, hash: `hash-${dagNo}-${versionNo}`, spec: specOf(3), actor: ACTOR, at };
}

export function created(dag: DagDeployed, runId: RunId, fields: Partial<RunCreated> = {}): RunCreated {
  const { tenantId, dagId, versionNo, shard } = dag;
  const run = {
    runId,
    uid: newUid(shard),
    tenantId,
    dagId,
    versionNo,
    priority: dag.spec.priority,
    cause: 'api',
  } as const;
  return {
    kind: 'RunCreated',
    ...run,
    firesAt: null,
    admitted: true,
    params: null,
    facts: null,
    actor: ACTOR,
    at: dag.at,
    ...fields,
  };
}

export function keyOf(run: RunCreated, shard: ShardNo, key: string): KeyStored {
  const scope = { shard, tenantId: run.tenantId, operation: 'submit', target: run.dagId, key };
  return { kind: 'KeyStored', ...scope, bodyHash: `body of ${key}`, runId: run.runId, uid: run.uid, at: run.at };
}

export function claimed(run: RunCreated, workerId: WorkerId, taskNo = 0): AttemptClaimed {
  const claim = { runId: run.runId, taskNo: taskNo as TaskNo, attemptNo: 1 as AttemptNo, fence: 1 as Fence, workerId };
  return { kind: 'AttemptClaimed', ...claim, firstOfTask: true, firstOfRun: taskNo === 0, at: run.at };
}

export function succeeded(claim: AttemptClaimed, output: string | null = null): AttemptEnded {
  const { runId, taskNo, attemptNo, fence, workerId, at } = claim;
  const attempt = {
    runId,
    taskNo,
    attemptNo,
    fence,
    workerId,
    outcome: 'succeeded',
    taskState: 'succeeded',
    claimedAt: at,
  } as const;
  const end = {
    startedAt: at,
    endedAt: at,
    retryAt: null,
    lostCount: 0,
    fingerprint: null,
    quick: null,
    output,
    facts: null,
    error: null,
    code: null,
  };
  return { kind: 'AttemptEnded', ...attempt, ...end };
}

export function ended(run: RunCreated): RunEnded {
  return { kind: 'RunEnded', runId: run.runId, outcome: 'succeeded', at: run.at };
}
