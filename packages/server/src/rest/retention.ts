/** How long history is kept, and its early removal. */
import type { Retention, RetentionRun } from '@signalbox/protocol';
import type { FastifyInstance } from 'fastify';
import { once } from './once.ts';
import type { RestParts } from './rest-parts.ts';

export function retentionRoutes(app: FastifyInstance, parts: RestParts): void {
  const { main, retention, leftMs } = parts;

  app.get('/v1/retention', async () => retention satisfies Retention);

  app.post('/v1/retention/run', async (request) =>
    once<RetentionRun>(request, parts, { target: '', make: () => main.dropExpired(leftMs(request)) }),
  );
}
