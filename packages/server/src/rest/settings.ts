/** Settings of the cluster. Servers look at them every few seconds. */
import { changeSettingsSchema, parseOr, type SettingsView } from '@signalbox/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import type { RestParts } from './rest-parts.ts';

export function settingsRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries } = parts;

  app.get('/v1/settings', (request) => view(request));

  app.put('/v1/settings', async (request) => {
    const { actor, tenantId } = callerOf(request);
    const { jitter: defaultJitterMs } = parseOr(changeSettingsSchema, request.body, 'BAD_REQUEST');
    return once<SettingsView>(request, parts, {
      target: '',
      body: { defaultJitterMs },
      make: async () => {
        const changed = { defaultJitterMs, actor, tenantId, origin: request.ip };
        await fromDatabase(() => queries.changeSettings(changed), request.log);
        return view(request);
      },
    });
  });

  async function view(request: FastifyRequest): Promise<SettingsView> {
    const { defaultJitterMs } = await fromDatabase(() => queries.readSettings(), request.log);
    return { jitterMs: defaultJitterMs };
  }
}
