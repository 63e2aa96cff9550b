/** Tokens of the tenant: created, listed, revoked. A token is shown once, when it is created; only its hash is stored (I67). */
import type { TenantId } from '@signalbox/engine';
import {
  type CreatedToken,
  nameSchema,
  newTokenSchema,
  parseOr,
  SignalboxError,
  type TokenPage,
  type TokenRevoked,
} from '@signalbox/protocol';
import type { StoredTenant } from '@signalbox/store';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Caller, hashOf } from '../auth/bearer.ts';
import { derivedSecret, randomSecret } from '../auth/session.ts';
import { toIso, toIsoOrNull } from '../iso-instants.ts';
import { badRequest, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import { refuseOthers } from './operators.ts';
import type { RestParts } from './rest-parts.ts';

interface WantedToken {
  readonly name: string;
  readonly role: CreatedToken['role'];
  readonly validMs: number | null;
  readonly queues: readonly string[] | null;
  readonly slots: number | null;
  readonly tenant: StoredTenant | null;
  readonly serves: readonly string[] | null;
}

const PREFIX = 'sbx_';

export function tokenRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries } = parts;

  app.post('/v1/tokens', async (request, reply) => {
    const caller = callerOf(request);
    const asked = parseOr(newTokenSchema, request.body, 'BAD_REQUEST');
    const { name, role, expiresIn, queues = null, slots = null, serves = null } = asked;
    if (asked.tenant !== undefined || serves !== null) refuseOthers(caller, 'create tokens for other tenants');
    const tenant = asked.tenant === undefined ? null : await tenantNamed(request, parts, asked.tenant);
    const { tokenKey } = await fromDatabase(() => queries.cluster(), request.log);
    // The same key finds the same secret again, though nobody has stored it.
    const secretOf = (key: string | null) =>
      key === null
        ? randomSecret(PREFIX)
        : derivedSecret(tokenKey, ['token', tenant?.tenantId ?? caller.tenantId, key, name], PREFIX);
    const wanted: WantedToken = { name, role, validMs: expiresIn ?? null, queues, slots, tenant, serves };
    const created = await once<CreatedToken>(request, parts, {
      target: name,
      body: request.body,
      make: (key) => createToken(request, parts, caller, wanted, secretOf(key)),
      hide: ({ token: _, ...rest }) => rest,
      show: (stored, key) => ({ ...(stored as Omit<CreatedToken, 'token'>), token: secretOf(key) }),
    });
    return reply.code(201).send(created);
  });

  app.get('/v1/tokens', async (request) => {
    const { tenantId } = callerOf(request);
    const found = await fromDatabase(() => queries.listTokens(tenantId), request.log);
    const names = found.some(({ serves }) => serves !== null) ? await tenantNames(request, parts) : null;
    const items = found.map(({ name, role, createdAt, createdBy, expiresAt, revokedAt, queues, slots, serves }) => ({
      name,
      role,
      createdAt: toIso(createdAt),
      createdBy,
      expiresAt: toIsoOrNull(expiresAt),
      revokedAt: toIsoOrNull(revokedAt),
      queues: queues === null ? null : [...queues],
      slots,
      serves: serves === null ? null : serves.length === 0 ? ['*'] : serves.map((id) => names?.get(id) ?? String(id)),
    }));
    return { items, cursor: null } satisfies TokenPage;
  });

  app.post('/v1/tokens/:name/revoke', async (request: FastifyRequest<{ Params: { name: string } }>) => {
    const { tenantId, actor } = callerOf(request);
    const name = parseOr(nameSchema, request.params.name, 'BAD_REQUEST');
    const by = { actor, origin: request.ip };
    return once<TokenRevoked>(request, parts, {
      target: name,
      make: async (_key, again) => {
        const isRevoked = await fromDatabase(() => queries.revokeToken(tenantId, name, by), request.log);
        if (!isRevoked && !again) throw new SignalboxError('TOKEN_NOT_FOUND', { token: name });
        return { name, revoked: true };
      },
    });
  });
}

async function createToken(
  request: FastifyRequest,
  parts: RestParts,
  { tenantId: own, actor }: Caller,
  { name, role, validMs, queues, slots, tenant, serves }: WantedToken,
  token: string,
): Promise<CreatedToken> {
  const sha256 = hashOf(token);
  const tenantId = tenant?.tenantId ?? own;
  const ids = serves === null ? null : await servedIds(request, parts, serves);
  const limits = { queues, slots, serves: ids };
  const made = { tenantId, name, role, sha256, validMs, createdBy: actor, ...limits, origin: request.ip };
  const { queries } = parts;
  const isMade = await fromDatabase(() => queries.createToken(made), request.log);
  const stored = await fromDatabase(() => queries.findTokenByName(tenantId, name), request.log);
  // Made by this very request, now or before it was cut off; otherwise the name is taken.
  const isOurs = isMade || (stored?.sha256.equals(sha256) === true && stored.role === role);
  if (!isOurs) throw badRequest('name', 'is that of another token: revoke it first, or choose another name');
  const expiresAt = toIsoOrNull(stored?.expiresAt ?? null);
  const shown = { tenant: tenant?.name ?? null, serves: serves === null ? null : [...serves] };
  return { name, role, token, expiresAt, queues: queues === null ? null : [...queues], slots, ...shown };
}

async function tenantNamed(request: FastifyRequest, { queries }: RestParts, name: string): Promise<StoredTenant> {
  const found = await fromDatabase(() => queries.findTenant(name), request.log);
  if (found === null || found.state === 'deleted') throw new SignalboxError('TENANT_NOT_FOUND', { tenant: name });
  return found;
}

/** Empty: every tenant, also those that come later. */
async function servedIds(request: FastifyRequest, parts: RestParts, names: readonly string[]): Promise<TenantId[]> {
  if (names.includes('*')) return [];
  const ids: TenantId[] = [];
  for (const name of new Set(names)) ids.push((await tenantNamed(request, parts, name)).tenantId);
  return ids;
}

const MOST_NAMES = 10_000;

async function tenantNames(request: FastifyRequest, { queries }: RestParts): Promise<Map<TenantId, string>> {
  const list = { after: '', limit: MOST_NAMES, withDeleted: true };
  const found = await fromDatabase(() => queries.listTenants(list), request.log);
  return new Map(found.map(({ tenantId, name }) => [tenantId, name]));
}
