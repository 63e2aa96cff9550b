/** Workers and servers. */
import type { NodePage, WorkerPage } from '@signalbox/protocol';
import type { FastifyInstance } from 'fastify';
import type { RestParts } from './app.ts';
import { fromDatabase } from './errors.ts';

export function fleetRoutes(app: FastifyInstance, { queries, main, leftMs }: RestParts): void {
  app.get('/v1/workers', async (request) => {
    const { workers, missing } = await main.workers(leftMs(request));
    return { items: [...workers], cursor: null, missing: [...missing] } satisfies WorkerPage;
  });

  app.get('/v1/nodes', async (request) => {
    const { nodes, unowned } = await fromDatabase(() => queries.listNodes(), request.log);
    const items = nodes.map((node) => ({
      id: node.nodeId,
      address: node.gatewayAddress,
      dataAddress: node.dataAddress,
      leaving: node.leaving,
      shards: node.shards,
    }));
    return { items, cursor: null, unowned } satisfies NodePage;
  });
}
