/** How long runs wait for their first task to start. */
import { type Delays, listDelaysSchema, parseOr } from '@signalbox/protocol';
import type { FastifyInstance } from 'fastify';
import { toIso } from '../iso-instants.ts';
import { fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import type { RestParts } from './rest-parts.ts';

export function delayRoutes(app: FastifyInstance, { queries }: RestParts): void {
  app.get('/v1/delays', async (request) => {
    const { tenantId } = callerOf(request);
    const { runs: limit } = parseOr(listDelaysSchema, request.query, 'BAD_REQUEST');
    const { runs } = await fromDatabase(() => queries.listRuns(tenantId, { limit }), request.log);
    const claims = await fromDatabase(() => queries.firstClaims(runs.map(({ runId }) => runId)), request.log);
    return {
      ids: runs.map(({ uid }) => uid),
      dag: runs.map(({ dagName }) => dagName),
      createdAt: runs.map(({ createdAt }) => toIso(createdAt)),
      delayMs: runs.map(({ runId, createdAt }) => {
        const claimedAt = claims.get(runId);
        return claimedAt === undefined ? null : Math.max(0, claimedAt - createdAt);
      }),
    } satisfies Delays;
  });
}
