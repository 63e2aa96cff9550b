/** The owner of a dag, set by hand. It goes before that of the definition, and stays when the dag is deployed again. */
import { type DagOwner, parseOr, setDagOwnerSchema } from '@signalbox/protocol';
import type { FastifyInstance } from 'fastify';
import { type DagRequest, findDag } from './dags.ts';
import { fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import type { RestParts } from './rest-parts.ts';

export function dagOwnerRoutes(app: FastifyInstance, parts: RestParts): void {
  app.put('/v1/dags/:name/owner', (request: DagRequest) => {
    const { owner } = parseOr(setDagOwnerSchema, request.body, 'BAD_REQUEST');
    return once<DagOwner>(request, parts, {
      target: request.params.name,
      body: { owner },
      make: async () => {
        const { tenantId, actor } = callerOf(request);
        const { name, spec } = await findDag(request, parts);
        const by = { actor, origin: request.ip };
        await fromDatabase(() => parts.queries.setDagOwner({ tenantId, name, owner }, by), request.log);
        const ofDefinition = spec.owner ?? null;
        return { name, owner: owner ?? ofDefinition, ofDefinition };
      },
    });
  });
}
