/** Quotas of tenants. Admins of the first tenant set them; each tenant sees its own (I50). */
import { type Instant, QUOTA_PER_MS, quotaHome, type SetQuota, type TenantId } from '@signalbox/engine';
import {
  nameSchema,
  parseOr,
  type QuotaPage,
  type QuotaRemoved,
  type QuotaView,
  quotaNameSchema,
  raiseQuotaSchema,
  SignalboxError,
  setQuotaSchema,
} from '@signalbox/protocol';
import type { StoredQuotaView } from '@signalbox/store';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { toIso } from '../iso-instants.ts';
import { systemClock } from '../ports/clock.ts';
import { answerOf, badRequest, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import { isOfInstallation } from './operators.ts';
import type { RestParts } from './rest-parts.ts';

type TenantRequest = FastifyRequest<{ Params: { name: string } }>;
type QuotaRequest = FastifyRequest<{ Params: { name: string; quota: string } }>;

const MAX_TASKS = 1_000_000;

export function quotaRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries, main, leftMs } = parts;

  app.get('/v1/tenants/:name/quotas', async (request: TenantRequest): Promise<QuotaPage> => {
    const tenantId = await tenantOf(request, request.params.name);
    return { items: (await list(request, tenantId)).map(viewOf), cursor: null };
  });

  app.put('/v1/tenants/:name/quotas/:quota', async (request: QuotaRequest) => {
    const { soft = null, hard = null } = parseOr(setQuotaSchema, request.body, 'BAD_REQUEST');
    const ofQuota = await named(request, { soft, hard });
    return change(request, ofQuota, () => send(request, { kind: 'SetQuota', ...ofQuota, soft, hard }));
  });

  app.post('/v1/tenants/:name/quotas/:quota/raise', async (request: QuotaRequest) => {
    const body = parseOr(raiseQuotaSchema, request.body, 'BAD_REQUEST');
    const { soft = null, hard = null, reason } = body;
    const ofQuota = await named(request, { soft, hard });
    const until = (Math.round(systemClock.wall()) + body.for) as Instant;
    return change(request, ofQuota, () => send(request, { kind: 'RaiseQuota', ...ofQuota, soft, hard, until, reason }));
  });

  app.delete('/v1/tenants/:name/quotas/:quota', async (request: QuotaRequest) => {
    const ofQuota = await named(request, { soft: null, hard: null });
    return once<QuotaRemoved>(request, parts, {
      target: targetOf(request),
      make: async (_key, again) => {
        const found = await find(request, ofQuota);
        if (found !== undefined) await send(request, { kind: 'SetQuota', ...ofQuota, soft: null, hard: null });
        else if (!again) throw new SignalboxError('QUOTA_NOT_FOUND', { quota: ofQuota.quota });
        if (found !== undefined) await audit(request, ofQuota, 'quota.remove');
        return { quota: ofQuota.quota, removed: true };
      },
    });
  });

  async function change(request: QuotaRequest, ofQuota: Named, make: () => Promise<void>): Promise<QuotaView> {
    return once<QuotaView>(request, parts, {
      target: targetOf(request),
      body: request.body,
      make: async () => {
        await make();
        await audit(request, ofQuota, request.method === 'PUT' ? 'quota.set' : 'quota.raise');
        const found = await find(request, ofQuota);
        if (found === undefined) throw new SignalboxError('QUOTA_NOT_FOUND', { quota: ofQuota.quota });
        return viewOf(found);
      },
    });
  }

  type Named = Omit<SetQuota, 'kind' | 'soft' | 'hard'>;

  async function named(
    request: QuotaRequest,
    { soft, hard }: { readonly soft: number | null; readonly hard: number | null },
  ): Promise<Named> {
    const quota = parseOr(quotaNameSchema, request.params.quota, 'BAD_REQUEST');
    if (quota === 'tasks' && Math.max(soft ?? 0, hard ?? 0) > MAX_TASKS)
      throw badRequest('hard', `must be at most ${MAX_TASKS} for tasks`);
    const tenantId = await tenantOf(request, request.params.name);
    return { shard: quotaHome(tenantId), tenantId, quota, actor: callerOf(request).actor };
  }

  async function send(request: FastifyRequest, command: Parameters<typeof main.command>[0]): Promise<void> {
    answerOf(await main.command(command, leftMs(request)), 'done', {
      quota: (request.params as { quota?: string }).quota ?? '',
    });
  }

  /** Of the tenant that runs the installation: it alone changes quotas (I71). */
  function audit(request: QuotaRequest, { actor }: Named, action: string): Promise<void> {
    const { tenantId } = callerOf(request);
    const details = JSON.stringify(request.body ?? {});
    const event = { tenantId, actor, action, target: targetOf(request), origin: request.ip, details };
    return fromDatabase(() => queries.recordUse(event), request.log);
  }

  async function find(request: FastifyRequest, { tenantId, quota }: Named): Promise<StoredQuotaView | undefined> {
    return (await list(request, tenantId)).find((one) => one.quota === quota);
  }

  function list(request: FastifyRequest, tenantId: TenantId): Promise<StoredQuotaView[]> {
    return fromDatabase(() => queries.listQuotas(tenantId), request.log);
  }

  /** To others it is as if it were not there (I65). */
  async function tenantOf(request: FastifyRequest, text: string): Promise<TenantId> {
    const name = parseOr(nameSchema, text, 'BAD_REQUEST');
    const caller = callerOf(request);
    if (caller.tenant === name) return caller.tenantId;
    const found = isOfInstallation(caller) ? await fromDatabase(() => queries.findTenant(name), request.log) : null;
    if (found === null) throw new SignalboxError('TENANT_NOT_FOUND', { tenant: name });
    return found.tenantId;
  }
}

function targetOf({ params }: QuotaRequest): string {
  return `${params.name} ${params.quota}`;
}

function viewOf({ setAt, raise, ...quota }: StoredQuotaView): QuotaView {
  return {
    ...quota,
    raise: raise === null ? null : { ...raise, until: toIso(raise.until) },
    setAt: toIso(setAt),
    warnings: warningsOf(quota),
  };
}

const REFUSED: Readonly<Record<QuotaView['quota'], string>> = {
  submits: 'every submission and event is refused',
  deploys: 'every new version is refused',
  runs: 'its dags have no runs, and windows of schedules are skipped',
  tasks: 'none of its tasks start',
  failures: 'every submission and event is refused',
  fanout: 'each of its dags is halted by its next run',
};

function warningsOf({ quota, soft, hard }: Pick<QuotaView, 'quota' | 'soft' | 'hard'>): string[] {
  if (hard === 0) return [`The hard limit is 0: ${REFUSED[quota]}.`];
  if (soft !== 0) return [];
  return [
    `The soft limit is 0: the tenant is throttled ${QUOTA_PER_MS[quota] === 0 ? 'while anything runs' : 'always'}.`,
  ];
}
