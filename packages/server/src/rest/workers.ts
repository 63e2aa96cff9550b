/** The workers whose streams end at this node. */
import type { FastifyInstance } from 'fastify';
import type { RestParts } from './app.ts';
import { admins, callerOf } from './guards.ts';

export function workerRoutes(app: FastifyInstance, { main, leftMs }: RestParts): void {
  app.get('/v1/workers', async (request) => {
    callerOf(request, admins('list workers'));
    return { items: await main.workers(leftMs(request)) };
  });
}
