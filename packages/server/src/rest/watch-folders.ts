/** Folders that this server watches: started with it, and told to those who run the installation. */
import type { WatchedFolderPage } from '@signalbox/protocol';
import type { FastifyInstance } from 'fastify';
import { FolderWatch, sourceOf, type WatchedFolder } from '../files/folder-watch.ts';
import { toIsoOrNull } from '../iso-instants.ts';
import { fromDatabase } from './errors.ts';
import { ownRequest } from './own-request.ts';
import type { RestParts } from './rest-parts.ts';
import { takeEvent } from './take-event.ts';

/** Folders belong to the machine, and so to the tenant that runs the installation. */
const TENANT = 'default';

/** As long as the server listens. */
export function watchFolders(app: FastifyInstance, parts: RestParts, folders: readonly WatchedFolder[]): void {
  const watches = folders.map((folder) => {
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
    return { folder, watch };
  });

  app.get('/v1/folders', async () => {
    const items = watches.map(({ folder, watch: { view } }) => ({
      ...folder,
      source: sourceOf(folder),
      ...view,
      lookedAt: toIsoOrNull(view.lookedAt),
      lastFileAt: toIsoOrNull(view.lastFileAt),
    }));
    return { items, cursor: null } satisfies WatchedFolderPage;
  });
}
