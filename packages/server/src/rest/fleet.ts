/** Workers and servers. */
import { type ClaimRef, type RunId, shardOfRun, TaskNames, type TenantId, type WorkerId } from '@signalbox/engine';
import {
  type HeldAttempt,
  type HeldAttemptPage,
  type NodePage,
  SignalboxError,
  type WorkerDrained,
  type WorkerPage,
} from '@signalbox/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import type { RestParts } from './rest-parts.ts';
import { noteAsked } from './worker-history.ts';

const WORKER_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** To save a checkpoint; clouds take a machine away 30 s after their notice at the earliest. */
const EVICT_GRACE_MS = 20_000;

export function fleetRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries, main, leftMs } = parts;

  app.get('/v1/workers', async (request) => {
    const { workers, missing } = await main.workers(callerOf(request).tenantId, leftMs(request));
    return { items: [...workers], cursor: null, missing: [...missing] } satisfies WorkerPage;
  });

  app.get('/v1/workers/:id/attempts', async (request: FastifyRequest<{ Params: { id: string } }>) => {
    const { id } = request.params;
    const { tenantId } = callerOf(request);
    const { workers, holds } = await main.workers(tenantId, leftMs(request));
    const worker = workers.find((one) => one.id === id);
    if (worker === undefined) throw new SignalboxError('WORKER_NOT_FOUND', { worker: id });
    const items = await fromDatabase(() => namesOf(holds.get(id) ?? [], tenantId, parts), request.log);
    return { items, cursor: null, more: Math.max(0, worker.running - items.length) } satisfies HeldAttemptPage;
  });

  /** With a time: what it runs is to stop within it. */
  const drain = (request: FastifyRequest<{ Params: { id: string } }>, evictMs: number) => {
    const { id } = request.params;
    return once<WorkerDrained>(request, parts, {
      target: id,
      make: async (_key, again) => {
        const worker = { tenantId: callerOf(request).tenantId, workerId: id as WorkerId, evictMs };
        const isKnown = WORKER_ID.test(id) && (await main.drain(worker, leftMs(request)));
        // One that was told before may be gone by now.
        if (!isKnown && !again) throw new SignalboxError('WORKER_NOT_FOUND', { worker: id });
        if (isKnown)
          await noteAsked(request, parts, { kind: evictMs > 0 ? 'evict_asked' : 'drain_asked', workerId: id });
        return { id, draining: true };
      },
    });
  };
  app.post('/v1/workers/:id/drain', (request: FastifyRequest<{ Params: { id: string } }>) => drain(request, 0));
  app.post('/v1/workers/:id/evict', (request: FastifyRequest<{ Params: { id: string } }>) =>
    drain(request, EVICT_GRACE_MS),
  );

  app.get('/v1/nodes', async (request) => {
    const { nodes, unowned } = await fromDatabase(() => queries.listNodes(), request.log);
    const items = nodes.map((node) => ({
      id: node.nodeId,
      address: node.gatewayAddress,
      dataAddress: node.dataAddress,
      version: node.version,
      leaving: node.leaving,
      clockAheadMs: node.clockAheadMs,
      unfit: node.unfit,
      shards: node.shards,
    }));
    return { items, cursor: null, unowned } satisfies NodePage;
  });
}

/** A run is looked up once, however many of its tasks the worker runs. One that was removed meanwhile is left out. */
async function namesOf(
  claims: readonly ClaimRef[],
  tenantId: TenantId,
  { queries }: RestParts,
): Promise<HeldAttempt[]> {
  const runIds = [...new Set(claims.map(({ runId }) => runId))];
  const runs = new Map((await queries.nameRuns(runIds)).map((run) => [run.runId, run]));
  const dags = new Map(
    (await queries.nameDags([...runs.values()].map(({ runId, dagId }) => ({ shard: shardOfRun(runId), dagId })))).map(
      (dag) => [dag.dagId, dag.name],
    ),
  );
  const names = new Map<RunId, TaskNames>();
  for (const runId of runIds) {
    const found = await queries.getRunMaps(tenantId, runId);
    if (found !== null) names.set(runId, new TaskNames(found.spec, found.maps));
  }
  return claims.flatMap(({ runId, taskNo, attemptNo }) => {
    const run = runs.get(runId);
    const task = names.get(runId)?.nameOf(taskNo);
    if (run === undefined || task == null) return [];
    return [{ dag: dags.get(run.dagId) ?? '', run: run.uid, task, attempt: attemptNo }];
  });
}
