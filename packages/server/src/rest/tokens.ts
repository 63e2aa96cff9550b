/** Credentials of the tenant: made, listed, revoked. A token is shown once, when it is made; only its hash is kept (I67). */
import { randomBytes } from 'node:crypto';
import { nameSchema, parseOr, SignalboxError } from '@signalbox/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { hashOf } from '../auth/bearer.ts';
import type { RestParts } from './app.ts';
import { badRequest, fromDatabase } from './errors.ts';
import { admins, callerOf } from './guards.ts';

const newTokenSchema = z.strictObject({ name: nameSchema, role: z.enum(['admin', 'worker']) });
const instant = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

export function tokenRoutes(app: FastifyInstance, { queries }: RestParts): void {
  app.post('/v1/tokens', async (request, reply) => {
    const { tenantId } = callerOf(request, admins('make tokens'));
    const { name, role } = parseOr(newTokenSchema, request.body, 'BAD_REQUEST');
    const token = `sbx_${randomBytes(32).toString('base64url')}`;
    const made = { tenantId, name, role, sha256: hashOf(token) };
    const isMade = await fromDatabase(() => queries.createToken(made), request.log);
    if (!isMade) throw badRequest('name', 'is that of another token: revoke it first, or choose another name');
    return reply.code(201).send({ name, role, token });
  });

  app.get('/v1/tokens', async (request) => {
    const { tenantId } = callerOf(request, admins('list tokens'));
    const found = await fromDatabase(() => queries.listTokens(tenantId), request.log);
    const items = found.map(({ name, role, createdAt, revokedAt }) => ({
      name,
      role,
      createdAt: instant(createdAt),
      revokedAt: instant(revokedAt),
    }));
    return { items };
  });

  app.post('/v1/tokens/:name/revoke', async (request: FastifyRequest<{ Params: { name: string } }>) => {
    const { tenantId } = callerOf(request, admins('revoke tokens'));
    const name = parseOr(nameSchema, request.params.name, 'BAD_REQUEST');
    const isRevoked = await fromDatabase(() => queries.revokeToken(tenantId, name), request.log);
    if (!isRevoked) throw new SignalboxError('TOKEN_NOT_FOUND', { token: name });
    return { name, revoked: true };
  });
}
