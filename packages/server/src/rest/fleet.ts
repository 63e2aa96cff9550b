/** Workers and servers. */
import type { WorkerId } from '@signalbox/engine';
import { type NodePage, SignalboxError, type WorkerDrained, type WorkerPage } from '@signalbox/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import type { RestParts } from './rest-parts.ts';

const WORKER_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function fleetRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries, main, leftMs } = parts;

  app.get('/v1/workers', async (request) => {
    const { workers, missing } = await main.workers(callerOf(request).tenantId, leftMs(request));
    return { items: [...workers], cursor: null, missing: [...missing] } satisfies WorkerPage;
  });

  app.post('/v1/workers/:id/drain', async (request: FastifyRequest<{ Params: { id: string } }>) => {
    const { id } = request.params;
    return once<WorkerDrained>(request, parts, {
      target: id,
      make: async (_key, again) => {
        const worker = { tenantId: callerOf(request).tenantId, workerId: id as WorkerId };
        const isKnown = WORKER_ID.test(id) && (await main.drain(worker, leftMs(request)));
        // One that was told before may be gone by now.
        if (!isKnown && !again) throw new SignalboxError('WORKER_NOT_FOUND', { worker: id });
        return { id, draining: true };
      },
    });
  });

  app.get('/v1/nodes', async (request) => {
    const { nodes, unowned } = await fromDatabase(() => queries.listNodes(), request.log);
    const items = nodes.map((node) => ({
      id: node.nodeId,
      address: node.gatewayAddress,
      dataAddress: node.dataAddress,
      leaving: node.leaving,
      clockAheadMs: node.clockAheadMs,
      unfit: node.unfit,
      shards: node.shards,
    }));
    return { items, cursor: null, unowned } satisfies NodePage;
  });
}
