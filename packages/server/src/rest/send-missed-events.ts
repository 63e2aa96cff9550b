import type { FastifyInstance } from 'fastify';
import { MissedEvents } from '../events/missed-events.ts';
import { ownRequest } from './own-request.ts';
import type { RestParts } from './rest-parts.ts';
import { takeEvent } from './take-event.ts';

/** As long as the server listens. */
export function sendMissedEvents(app: FastifyInstance, parts: RestParts): void {
  const missed = new MissedEvents({
    queries: parts.queries,
    send: ({ tenantId, tenant }, event) =>
      takeEvent(ownRequest(app.log, { tenantId, tenant, actor: 'expectation' }), parts, event, { by: 'event' }),
    complain: (error) => app.log.warn({ error: String(error) }, 'Missing events wait to be told.'),
  });
  app.addHook('onListen', async () => missed.start());
  app.addHook('onClose', () => missed.stop());
}
