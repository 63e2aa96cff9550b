import type { FastifyInstance } from 'fastify';
import { ObjectWatch, type WatchedObjects } from '../objects/object-watch.ts';
import { openS3 } from '../objects/s3.ts';
import { fromDatabase } from './errors.ts';
import { ownRequest } from './own-request.ts';
import type { RestParts } from './rest-parts.ts';
import { takeEvent } from './take-event.ts';

/** The credentials are those of the installation, and so is what they see. */
const TENANT = 'default';

/** As long as the server listens. */
export function watchObjects(app: FastifyInstance, parts: RestParts, { prefixes, endpoint }: WatchedObjects): void {
  for (const watched of prefixes) {
    const watch = new ObjectWatch({
      watched,
      store: () => openS3(endpoint),
      queries: parts.queries,
      send: async (event) => {
        const tenant = await fromDatabase(() => parts.queries.findTenant(TENANT), app.log);
        if (tenant === null) return;
        const caller = { tenantId: tenant.tenantId, tenant: TENANT, actor: `objects:${watched.name}` };
        await takeEvent(ownRequest(app.log, caller), parts, event, { by: 'event' });
      },
      complain: (what, details) => app.log.warn(details, what),
    });
    app.addHook('onListen', async () => watch.start());
    app.addHook('onClose', () => watch.stop());
  }
}
