/** The time zone data of the cluster: its version, that of each server, and the action that raises it. */
import type { ZonesRaised, ZonesView } from '@signalbox/protocol';
import { tzVersion } from '@signalbox/protocol/zones';
import type { FastifyInstance } from 'fastify';
import { ownDataOf } from '../zones/zone-book.ts';
import { fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import { isOfInstallation } from './operators.ts';
import type { RestParts } from './rest-parts.ts';

export function zoneRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries } = parts;

  app.get('/v1/zones', async (request) => {
    const [{ version, zones }, nodes] = await fromDatabase(
      () => Promise.all([queries.readZones(tzVersion), queries.listNodeZones()]),
      request.log,
    );
    // Which zones are used is known of all tenants together, so the others are not told (I65).
    const told = isOfInstallation(callerOf(request)) ? [...zones.values()] : [];
    const used = told.map(({ zone, tzVersion: madeFrom }) => ({ zone: asWritten(zone), madeFrom }));
    return {
      version,
      nodes: nodes.map(({ nodeId, version: own }) => ({ node: nodeId, version: own })),
      zones: used,
    } satisfies ZonesView;
  });

  app.post('/v1/zones/upgrade', async (request) =>
    once<ZonesRaised>(request, parts, {
      target: '',
      make: async () => {
        const { tenantId, actor } = callerOf(request);
        const { version: previous, zones } = await queries.readZones(tzVersion);
        if (tzVersion <= previous) return { version: previous, previous, server: tzVersion, changed: false };
        const raised = {
          tenantId,
          actor,
          origin: request.ip,
          version: tzVersion,
          zones: await ownDataOf(zones.keys()),
        };
        const changed = await queries.raiseZones(raised);
        const version = changed ? tzVersion : ((await queries.readZoneVersion()) ?? previous);
        return { version, previous, server: tzVersion, changed };
      },
    }),
  );
}

/** Names of zones are stored in small letters, because `europe/berlin` is the same zone. People know them as IANA writes them. */
function asWritten(zone: string): string {
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions();
    // Another name of the same zone is not what somebody has written.
    return timeZone.toLowerCase() === zone ? timeZone : zone;
  } catch {
    return zone;
  }
}
