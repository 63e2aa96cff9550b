/** Webhooks: made and kept by admins, called by outside systems with a signature in place of a credential. */
import { createHash, randomUUID } from 'node:crypto';
import type { Actor } from '@signalbox/engine';
import {
  newWebhookSchema,
  parseOr,
  rotateWebhookSchema,
  SignalboxError,
  type WebhookDeleted,
  type WebhookPage,
  type WebhookScheme,
  type WebhookSecret,
  type WebhookView,
  webhookIdSchema,
} from '@signalbox/protocol';
import type { StoredWebhook } from '@signalbox/store';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { networkOf } from '../auth/network.ts';
import { TokenBuckets } from '../auth/rate.ts';
import { derivedSecret } from '../auth/session.ts';
import { WrongCredentials } from '../auth/wrong-credentials.ts';
import { toIso } from '../iso-instants.ts';
import { systemClock } from '../ports/clock.ts';
import { eventOf } from '../webhooks/event.ts';
import { seal, secretOf } from '../webhooks/secret.ts';
import { type Delivery, isSigned } from '../webhooks/verify.ts';
import { fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import type { RestParts } from './rest-parts.ts';
import { takeEvent } from './take-event.ts';

type WebhookRequest = FastifyRequest<{ Params: { id: string } }>;

/** The data of an event are at most the params of a run. */
const WEBHOOK_BYTES = 256 * 1024;
/** From one address. */
const CALLS = { perSecond: 50, burst: 200 };
/** Stands for a webhook that is not there: looking at a signature takes as long as for one that is. */
const NOBODY: Pick<StoredWebhook, 'id' | 'scheme' | 'generation' | 'sealed'> = {
  id: '',
  scheme: 'standard',
  generation: 0,
  sealed: null,
};

export function webhookRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries } = parts;
  const keyOfCluster = async (request: FastifyRequest) =>
    (await fromDatabase(() => queries.cluster(), request.log)).tokenKey;

  app.post('/v1/webhooks', async (request, reply) => {
    const { tenantId, actor } = callerOf(request);
    const { dag, scheme, secret } = parseOr(newWebhookSchema, request.body, 'BAD_REQUEST');
    const found = await fromDatabase(() => queries.findDag(tenantId, dag), request.log);
    if (found === null || found.retiredAt !== null) throw new SignalboxError('DAG_NOT_FOUND', { dag });
    const clusterKey = await keyOfCluster(request);
    const created = await once<WebhookSecret>(request, parts, {
      target: dag,
      body: { dag, scheme, secret: secret === undefined ? null : createHash('sha256').update(secret).digest('hex') },
      make: async (key) => {
        // The same key makes the same webhook, also if the first request was cut off.
        const id = key === null ? randomUUID() : uuidOf(derivedSecret(clusterKey, ['webhook-id', tenantId, dag, key]));
        const sealed = secret === undefined ? null : seal(clusterKey, id, secret);
        const made = { id, tenantId, dag, scheme, sealed };
        await fromDatabase(() => queries.createWebhook(made, { actor, origin: request.ip }), request.log);
        return shown(clusterKey, await findOwn(request, parts, id));
      },
      hide: ({ secret: _secret, ...rest }) => rest,
      show: (stored) => withSecret(clusterKey, stored as WebhookView, 1, secret === undefined),
    });
    return reply.code(201).send(created);
  });

  app.get('/v1/webhooks', async (request) => {
    const { tenantId } = callerOf(request);
    const found = await fromDatabase(() => queries.listWebhooks(tenantId), request.log);
    return { items: found.map(viewOf), cursor: null } satisfies WebhookPage;
  });

  app.post('/v1/webhooks/:id/rotate', async (request: WebhookRequest) => {
    const { tenantId, actor } = callerOf(request);
    const { secret, keepOld: keepMs } = parseOr(rotateWebhookSchema, request.body ?? {}, 'BAD_REQUEST');
    const { id, generation } = await findOwn(request, parts, request.params.id);
    const clusterKey = await keyOfCluster(request);
    return once<WebhookSecret>(request, parts, {
      target: id,
      body: { keepMs, secret: secret === undefined ? null : createHash('sha256').update(secret).digest('hex') },
      make: async () => {
        const sealed = secret === undefined ? null : seal(clusterKey, id, secret);
        const by = { actor, origin: request.ip };
        await fromDatabase(() => queries.rotateWebhook({ id, tenantId, sealed, keepMs }, by), request.log);
        return shown(clusterKey, await findOwn(request, parts, id));
      },
      hide: ({ secret: _secret, ...rest }) => rest,
      show: (stored) => withSecret(clusterKey, stored as WebhookView, generation, secret === undefined),
    });
  });

  app.delete('/v1/webhooks/:id', async (request: WebhookRequest) => {
    const { tenantId, actor } = callerOf(request);
    const id = idIn(request);
    return once<WebhookDeleted>(request, parts, {
      target: id,
      make: async (_key, again) => {
        const by = { actor, origin: request.ip };
        const isGone = await fromDatabase(() => queries.deleteWebhook({ id, tenantId }, by), request.log);
        if (!isGone && !again) throw new SignalboxError('WEBHOOK_NOT_FOUND', { webhook: id });
        return { id, deleted: true };
      },
    });
  });

  receiveRoute(app, parts, keyOfCluster);
}

/** In a scope of its own: signatures are over bodies as they came. */
function receiveRoute(
  app: FastifyInstance,
  parts: RestParts,
  keyOfCluster: (request: FastifyRequest) => Promise<Buffer>,
): void {
  const { queries } = parts;
  const calls = new TokenBuckets(CALLS);
  const wrong = new WrongCredentials(queries, 'webhook.refused');
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body));
    scope.post('/v1/webhooks/:id', { bodyLimit: WEBHOOK_BYTES }, async (request: WebhookRequest) => {
      const from = networkOf(request.ip);
      const retryAfterMs = calls.take(from);
      if (retryAfterMs > 0) throw new SignalboxError('RATE_LIMITED', { what: 'webhook calls', retryAfterMs });
      const id = webhookIdSchema.safeParse(request.params.id);
      const found = id.success
        ? await wrong.lookUp(from, () => fromDatabase(() => queries.findWebhook(id.data), request.log))
        : null;
      const clusterKey = await keyOfCluster(request);
      const webhook = found ?? NOBODY;
      const secrets = [webhook, ...(found?.previous ? [found.previous] : [])].map((ref) =>
        secretOf(clusterKey, webhook, ref),
      );
      const body = request.body instanceof Buffer ? request.body : Buffer.alloc(0);
      const delivery: Delivery = { headers: request.headers, body, now: systemClock.wall() };
      // Whether there is such a webhook is told to nobody who cannot sign for it.
      if (!isSigned(webhook.scheme as WebhookScheme, secrets, delivery) || found === null) {
        wrong.count(from, null);
        throw new SignalboxError('WEBHOOK_REFUSED');
      }
      const tenant = await fromDatabase(() => queries.findTenant(found.tenant), request.log);
      if (tenant?.state !== 'active') throw new SignalboxError('TENANT_SUSPENDED', { tenant: found.tenant });
      request.caller = {
        tenantId: found.tenantId,
        tenant: found.tenant,
        role: 'operator',
        actor: `webhook:${found.id}` as Actor,
        credential: `webhook:${found.id}`,
        work: { queues: null, slots: null, serves: null },
        isSuspended: false,
        // The dag that it starts was deployed by somebody who may.
        mayBeCritical: true,
        defaultPriority: null,
      };
      const event = eventOf(found.id, found.scheme as WebhookScheme, delivery);
      const { source, id: eventId } = event;
      return { source, id: eventId, ...(await takeEvent(request, parts, event, { by: 'event', onlyDag: found.dag })) };
    });
  });
}

function idIn({ params }: WebhookRequest): string {
  const parsed = webhookIdSchema.safeParse(params.id);
  if (!parsed.success) throw new SignalboxError('WEBHOOK_NOT_FOUND', { webhook: params.id });
  return parsed.data;
}

async function findOwn(request: FastifyRequest, { queries }: RestParts, id: string): Promise<StoredWebhook> {
  const parsed = webhookIdSchema.safeParse(id);
  const found = parsed.success ? await fromDatabase(() => queries.findWebhook(parsed.data), request.log) : null;
  if (found === null || found.tenantId !== callerOf(request).tenantId)
    throw new SignalboxError('WEBHOOK_NOT_FOUND', { webhook: id });
  return found;
}

function viewOf({ id, dag, scheme, createdAt, createdBy }: StoredWebhook): WebhookView {
  const path = `/v1/webhooks/${id}`;
  return { id, dag, scheme: scheme as WebhookScheme, path, createdAt: toIso(createdAt), createdBy };
}

function shown(clusterKey: Buffer, webhook: StoredWebhook): WebhookSecret {
  return withSecret(clusterKey, viewOf(webhook), webhook.generation, webhook.sealed === null);
}

/** A secret that somebody gave us is not told again. */
function withSecret(clusterKey: Buffer, view: WebhookView, generation: number, isOurs: boolean): WebhookSecret {
  return { ...view, secret: isOurs ? secretOf(clusterKey, view, { generation, sealed: null }) : null };
}

/** 122 bits of a secret as a UUID v4. */
function uuidOf(secret: string): string {
  const hex = createHash('sha256').update(secret).digest('hex');
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
