/** The audit, for admins: who did what to credentials, when, from where, and the outcome (I71). */
import { type AuditPage, listAuditSchema, parseOr } from '@signalbox/protocol';
import type { FastifyInstance } from 'fastify';
import { toIso } from '../iso-instants.ts';
import { badRequest, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import type { RestParts } from './rest-parts.ts';

export function auditRoutes(app: FastifyInstance, { queries }: RestParts): void {
  app.get('/v1/audit', async (request) => {
    const { tenantId } = callerOf(request);
    const { cursor, limit, action = null } = parseOr(listAuditSchema, request.query, 'BAD_REQUEST');
    if (cursor !== undefined && !/^\d{1,15}$/.test(cursor)) throw badRequest('cursor', 'is not a cursor from a page');
    const before = Number(cursor ?? Number.MAX_SAFE_INTEGER);
    const events = await fromDatabase(() => queries.listAudit(tenantId, { before, action, limit }), request.log);
    const items = events.map(({ id, at, details, ...event }) => ({
      id: String(id),
      at: toIso(at),
      ...event,
      details: details as Record<string, unknown> | null,
    }));
    return { items, cursor: items.length < limit ? null : (items.at(-1)?.id ?? null) } satisfies AuditPage;
  });
}
