/** Who is signed in, and how a browser signs out. */
import type { SessionEnded, SessionView } from '@signalbox/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { endedCookie, sessionIn } from '../auth/session.ts';
import { VERSION } from '../version.ts';
import { badRequest, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { isOfInstallation } from './operators.ts';
import type { RestParts } from './rest-parts.ts';

/** The cookie counts only where no header names another credential. */
const isBrowser = ({ headers }: FastifyRequest): boolean =>
  headers.authorization === undefined && sessionIn(headers.cookie) !== null;

export function sessionRoutes(app: FastifyInstance, { queries, isSecure }: RestParts): void {
  app.get('/v1/session', async (request) => {
    const { actor, role, tenant } = callerOf(request);
    return {
      ...{ actor, role, tenant, installation: isOfInstallation(callerOf(request)) },
      ...{ browser: isBrowser(request), version: VERSION },
    } satisfies SessionView;
  });

  // Ending a session twice is refused as unauthenticated, so it needs no idempotency key.
  app.post('/v1/session/end', async (request, reply) => {
    if (!isBrowser(request)) throw badRequest('cookie', 'must be that of a session: revoke tokens by their name');
    const { tenantId, actor } = callerOf(request);
    const name = actor.replace(/^token:/, '');
    await fromDatabase(() => queries.revokeToken(tenantId, name, { actor, origin: request.ip }), request.log);
    const ended: SessionEnded = { ended: true };
    return reply.header('set-cookie', endedCookie(isSecure || request.protocol === 'https')).send(ended);
  });
}
