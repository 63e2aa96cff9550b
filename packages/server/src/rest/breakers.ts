/** Breakers over REST: what they hold back and since when, and how to reset them. */
import { fingerprintText, parseFingerprint } from '@signalbox/engine';
import {
  type BreakerPage,
  type BreakerReset,
  listBreakersSchema,
  parseOr,
  resetBreakerSchema,
  SignalboxError,
} from '@signalbox/protocol';
import type { BreakerRow } from '@signalbox/store';
import type { FastifyInstance } from 'fastify';
import { toIso } from '../iso-instants.ts';
import { answerOf, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import type { RestParts } from './rest-parts.ts';

export function breakerRoutes(app: FastifyInstance, parts: RestParts): void {
  app.get('/v1/breakers', async (request) => {
    const { tenantId } = callerOf(request);
    const { dag } = parseOr(listBreakersSchema, request.query, 'BAD_REQUEST');
    const found = await fromDatabase(() => parts.queries.listBreakers(tenantId, dag ?? null), request.log);
    return { items: found.map(breakerView) } satisfies BreakerPage;
  });

  app.post('/v1/breakers/reset', async (request) => {
    const { tenantId, actor } = callerOf(request);
    const { dag, fingerprint } = parseOr(resetBreakerSchema, request.body ?? {}, 'BAD_REQUEST');
    return once<BreakerReset>(request, parts, {
      target: `${dag}/${fingerprint ?? ''}`,
      make: async (_key, again) => {
        const place = await fromDatabase(() => parts.dags.find(tenantId, dag), request.log);
        if (place === null) throw new SignalboxError('DAG_NOT_FOUND', { dag });
        const of = fingerprint === null ? null : parseFingerprint(fingerprint);
        const { shard, dagId } = place;
        const command = { kind: 'ResetBreaker', shard, dagId, tenantId, fingerprint: of, actor } as const;
        const breaker = fingerprint === null ? `of dag ${dag}` : `${fingerprint} of dag ${dag}`;
        try {
          answerOf(await parts.main.command(command, parts.leftMs(request)), 'done', { breaker });
        } catch (error) {
          // A request before it, which was cut off, may have done it.
          const isDone = again && error instanceof SignalboxError && error.code === 'BREAKER_NOT_FOUND';
          if (!isDone) throw error;
        }
        return { dag, fingerprint };
      },
    });
  });
}

export function breakerView(breaker: BreakerRow): BreakerPage['items'][number] {
  const { state, since, pauseMs } = breaker;
  return {
    dag: breaker.dagName,
    fingerprint: breaker.fingerprint === null ? null : fingerprintText(breaker.fingerprint),
    state,
    openedAt: toIso(breaker.openedAt),
    since: toIso(since),
    pauseMs,
    probeAt: state === 'open' ? toIso(since + pauseMs) : null,
    error: breaker.error,
  };
}
