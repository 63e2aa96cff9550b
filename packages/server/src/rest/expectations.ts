/** What dags expect. */
import { type ExpectationPage, listExpectationsSchema, parseOr } from '@signalbox/protocol';
import type { ExpectationRow } from '@signalbox/store';
import type { FastifyInstance } from 'fastify';
import { toIso, toIsoOrNull } from '../iso-instants.ts';
import { fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import type { RestParts } from './rest-parts.ts';

export function expectationRoutes(app: FastifyInstance, { queries }: RestParts): void {
  app.get('/v1/expectations', async (request) => {
    const { tenantId } = callerOf(request);
    const { dag } = parseOr(listExpectationsSchema, request.query, 'BAD_REQUEST');
    const found = await fromDatabase(() => queries.listExpectations(tenantId, dag ?? null), request.log);
    return { items: found.map(viewOf), cursor: null } satisfies ExpectationPage;
  });
}

function viewOf({ dag, spec, sinceAt, dueAt, lastAt }: ExpectationRow): ExpectationPage['items'][number] {
  const { by, where, ...rest } = spec;
  return {
    dag,
    ...rest,
    ...(where === undefined ? {} : { where: where.text }),
    ...(by === undefined ? {} : { by: String(by.cron), zone: by.zone }),
    since: toIso(sinceAt),
    due: toIsoOrNull(dueAt),
    lastAt: toIsoOrNull(lastAt),
  };
}
