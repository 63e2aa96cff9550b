import type { FastifyInstance } from 'fastify';
import { FolderWatch, type WatchedFolder } from '../files/folder-watch.ts';
import { fromDatabase } from './errors.ts';
import { ownRequest } from './own-request.ts';
import type { RestParts } from './rest-parts.ts';
import { takeEvent } from './take-event.ts';

/** Folders belong to the machine, and so to the tenant that runs the installation. */
const TENANT = 'default';

/** As long as the server listens. */
export function watchFolders(app: FastifyInstance, parts: RestParts, folders: readonly WatchedFolder[]): void {
  for (const folder of folders) {
    const watch = new FolderWatch({
      folder,
      queries: parts.queries,
      send: async (event) => {
        const tenant = await fromDatabase(() => parts.queries.findTenant(TENANT), app.log);
        if (tenant === null) return;
        const caller = { tenantId: tenant.tenantId, tenant: TENANT, actor: `folder:${folder.name}` };
        await takeEvent(ownRequest(app.log, caller), parts, event, { by: 'event' });
      },
      complain: (what, details) => app.log.warn(details, what),
    });
    app.addHook('onListen', async () => watch.start());
    app.addHook('onClose', () => watch.stop());
  }
}
