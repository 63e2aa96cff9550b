/** Tenants. Admins of the first tenant, which runs the installation, make and change them; others see their own. */
import {
  listTenantsSchema,
  nameSchema,
  newTenantSchema,
  PRIORITIES,
  type Priority,
  parseOr,
  SignalboxError,
  suspendTenantSchema,
  type TenantPage,
  type TenantView,
  tenantSettingsSchema,
} from '@signalbox/protocol';
import type { StoredTenant, TenantChange } from '@signalbox/store';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { toIso } from '../iso-instants.ts';
import { badRequest, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import { isOfInstallation } from './operators.ts';
import type { RestParts } from './rest-parts.ts';

type TenantRequest = FastifyRequest<{ Params: { name: string } }>;

export function tenantRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries } = parts;

  app.get('/v1/tenants', async (request) => {
    const { cursor, limit, deleted } = parseOr(listTenantsSchema, request.query, 'BAD_REQUEST');
    const list = { after: cursor ?? '', limit, withDeleted: deleted === 'true' };
    const found = await fromDatabase(() => queries.listTenants(list), request.log);
    const next = found.length < limit ? null : (found.at(-1)?.name ?? null);
    return { items: found.map(viewOf), cursor: next } satisfies TenantPage;
  });

  app.get('/v1/tenants/:name', async (request: TenantRequest) => {
    const name = parseOr(nameSchema, request.params.name, 'BAD_REQUEST');
    // To others it is as if it were not there (I65).
    const mayKnow = isOfInstallation(callerOf(request)) || callerOf(request).tenant === name;
    if (!mayKnow) throw new SignalboxError('TENANT_NOT_FOUND', { tenant: name });
    return find(request, name);
  });

  app.post('/v1/tenants', async (request, reply) => {
    const { actor } = callerOf(request);
    const { name, defaultPriority, ...rest } = parseOr(newTenantSchema, request.body, 'BAD_REQUEST');
    const tenant = { name, ...given(rest), defaultPriority: numberOf(defaultPriority) };
    const created = await once<TenantView>(request, parts, {
      target: name,
      body: request.body,
      make: async (_key, again) => {
        const by = { actor, origin: request.ip };
        const isMade = await fromDatabase(() => queries.createTenant(tenant, by), request.log);
        if (!isMade && !again) throw badRequest('name', 'is that of another tenant, or of one that was deleted');
        return find(request, name);
      },
    });
    return reply.code(201).send(created);
  });

  app.put('/v1/tenants/:name', async (request: TenantRequest) => {
    const { defaultPriority, ...rest } = parseOr(tenantSettingsSchema, request.body, 'BAD_REQUEST');
    const priority = defaultPriority === undefined ? {} : { defaultPriority: numberOf(defaultPriority) };
    return change(request, 'change tenants', 'tenant.change', { ...given(rest), ...priority });
  });

  app.post('/v1/tenants/:name/suspend', async (request: TenantRequest) => {
    const { reason = null } = parseOr(suspendTenantSchema, request.body ?? {}, 'BAD_REQUEST');
    return change(request, 'suspend tenants', 'tenant.suspend', { state: 'suspended', reason });
  });

  app.post('/v1/tenants/:name/resume', async (request: TenantRequest) =>
    change(request, 'resume tenants', 'tenant.resume', { state: 'active' }),
  );

  app.delete('/v1/tenants/:name', async (request: TenantRequest) =>
    change(request, 'delete tenants', 'tenant.delete', { state: 'deleted' }),
  );

  async function change(
    request: TenantRequest,
    what: string,
    action: string,
    settings: TenantChange,
  ): Promise<TenantView> {
    const { actor } = callerOf(request);
    const name = parseOr(nameSchema, request.params.name, 'BAD_REQUEST');
    return once<TenantView>(request, parts, {
      target: name,
      body: settings,
      make: async () => {
        const by = { actor, origin: request.ip };
        const isDone = await fromDatabase(() => queries.changeTenant(name, { ...settings, action }, by), request.log);
        const view = await find(request, name);
        if (!isDone && view.state === 'deleted')
          throw badRequest('name', 'is that of a deleted tenant: resume it before you suspend it');
        if (!isDone)
          throw badRequest(
            'name',
            `is the tenant that runs the installation: you can not ${what.replace('tenants', 'it')}`,
          );
        return view;
      },
    });
  }

  async function find(request: FastifyRequest, name: string): Promise<TenantView> {
    const found = await fromDatabase(() => queries.findTenant(name), request.log);
    if (found === null) throw new SignalboxError('TENANT_NOT_FOUND', { tenant: name });
    return viewOf(found);
  }
}

/** Without what was not given. */
function given({ weight, critical }: { weight?: number | undefined; critical?: boolean | undefined }) {
  return { ...(weight === undefined ? {} : { weight }), ...(critical === undefined ? {} : { critical }) };
}

function numberOf(priority: Priority | null | undefined): number | null {
  return priority === null || priority === undefined ? null : PRIORITIES.indexOf(priority);
}

function viewOf({ tenantId: _, createdAt, changedAt, defaultPriority, ...tenant }: StoredTenant): TenantView {
  return {
    ...tenant,
    defaultPriority: defaultPriority === null ? 'normal' : PRIORITIES[defaultPriority]!,
    createdAt: toIso(createdAt),
    changedAt: toIso(changedAt),
  };
}
