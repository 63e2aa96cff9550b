/** Callbacks of ended runs: their state, the secret that signs them, and sending one again. */
import type { Instant } from '@signalbox/engine';
import {
  type CallbackPage,
  type CallbackSecret,
  type CallbacksRepeated,
  listCallbacksSchema,
  parseOr,
  runIdSchema,
  SignalboxError,
} from '@signalbox/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { idOf } from '../callbacks/caller.ts';
import { callbackSecret, SIGNATURE_HEADER } from '../callbacks/signature.ts';
import { toIso, toIsoOrNull } from '../iso-instants.ts';
import { badRequest, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import type { RestParts } from './rest-parts.ts';

export function callbackRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries } = parts;

  app.get('/v1/callbacks', async (request) => {
    const { tenantId } = callerOf(request);
    const { cursor, limit, state = null } = parseOr(listCallbacksSchema, request.query, 'BAD_REQUEST');
    if (cursor !== undefined && !/^\d{1,15}$/.test(cursor)) throw badRequest('cursor', 'is not a cursor from a page');
    const before = Number(cursor ?? Number.MAX_SAFE_INTEGER) as Instant;
    const rows = await fromDatabase(() => queries.listCallbacks(tenantId, { before, state, limit }), request.log);
    const items = rows.map((row) => ({
      id: idOf(row),
      dag: row.dag,
      run: row.run,
      outcome: row.outcome,
      url: row.url,
      state: row.state,
      attempts: row.attempts,
      endedAt: toIso(row.key.at),
      nextAt: row.state === 'waiting' ? toIsoOrNull(row.nextAt) : null,
      lastStatus: row.lastStatus,
      lastError: row.lastError,
    }));
    return { items, cursor: rows.length < limit ? null : String(rows.at(-1)?.key.at ?? 0) } satisfies CallbackPage;
  });

  app.get('/v1/callbacks/secret', async (request) => {
    const { tenantId } = callerOf(request);
    const { tokenKey } = await fromDatabase(() => queries.cluster(), request.log);
    return { header: SIGNATURE_HEADER, secret: callbackSecret(tokenKey, tenantId) } satisfies CallbackSecret;
  });

  app.post('/v1/runs/:id/callbacks', async (request: FastifyRequest<{ Params: { id: string } }>) => {
    const { tenantId } = callerOf(request);
    const run = parseOr(runIdSchema, request.params.id, 'BAD_REQUEST');
    return once<CallbacksRepeated>(request, parts, {
      target: run,
      body: null,
      make: async () => {
        const repeated = await fromDatabase(() => queries.repeatCallbacks(tenantId, run as never), request.log);
        if (repeated === 0) throw new SignalboxError('CALLBACK_NOT_FOUND', { run });
        return { repeated };
      },
    });
  });
}
