/** Freezes: who may freeze what, and what is frozen. Servers read it each second. */
import type { TenantId } from '@signalbox/engine';
import {
  type FreezePage,
  type FreezeView,
  freezeTargetSchema,
  newFreezeSchema,
  parseOr,
  SignalboxError,
  type Thawed,
} from '@signalbox/protocol';
import type { FreezeChange, Frozen, StoredFreeze, StoredHaltView } from '@signalbox/store';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { toIso } from '../iso-instants.ts';
import { answerOf, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import { isOfInstallation, refuseOthers } from './operators.ts';
import type { RestParts } from './rest-parts.ts';
import { haltReason } from './why.ts';
import { noteAsked } from './worker-history.ts';

type FreezeRequest = FastifyRequest<{ Params: { target: string } }>;
const FIRST_TENANT = 1 as TenantId;
/** Of dags, queues and workers of a tenant. Each server reads all of them each second. */
const MOST = 1_000;

export function freezeRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries, main, leftMs } = parts;

  app.get('/v1/freezes', async (request) => {
    const halts = (await listHalts(request)).map(haltView);
    return { items: [...halts, ...(await list(request)).map(viewOf)], cursor: null } satisfies FreezePage;
  });

  app.put('/v1/freezes/:target', async (request: FreezeRequest) => {
    const { reason = null } = parseOr(newFreezeSchema, request.body ?? {}, 'BAD_REQUEST');
    const frozen = await frozenOf(request, 'freeze this');
    const { target } = request.params;
    return once<FreezeView>(request, parts, {
      target,
      body: request.body ?? {},
      make: async () => {
        await assertThere(request, frozen);
        await assertRoom(request, frozen);
        await fromDatabase(() => queries.setFreeze(frozen, { reason, ...byOf(request) }), request.log);
        if (frozen.kind === 'worker')
          await noteAsked(request, parts, { kind: 'cordoned', workerId: frozen.name, details: { reason } });
        const found = (await list(request)).find((one) => isSame(one, frozen));
        // Somebody may have thawed it at once.
        if (found === undefined) throw new SignalboxError('FREEZE_NOT_FOUND', { target });
        return viewOf(found);
      },
    });
  });

  app.delete('/v1/freezes/:target', async (request: FreezeRequest) => {
    const frozen = await frozenOf(request, 'thaw this');
    const { target } = request.params;
    return once<Thawed>(request, parts, {
      target,
      make: async (_key, again) => {
        const isResumed = frozen.kind === 'dag' && (await resume(request, frozen.name));
        const isThawed = await fromDatabase(() => queries.removeFreeze(frozen, byOf(request)), request.log);
        if (isThawed && frozen.kind === 'worker')
          await noteAsked(request, parts, { kind: 'uncordoned', workerId: frozen.name });
        if (isThawed || isResumed) return { target, thawed: true };
        if ((await list(request)).some((one) => isSame(one, frozen)))
          throw new SignalboxError('FORBIDDEN', { action: 'thaw what the tenant that runs the installation froze' });
        if (!again) throw new SignalboxError('FREEZE_NOT_FOUND', { target });
        return { target, thawed: true };
      },
    });
  });

  function listHalts(request: FastifyRequest): Promise<StoredHaltView[]> {
    return fromDatabase(() => queries.listHalts(callerOf(request).tenantId), request.log);
  }

  /** False when the dag was not halted. */
  async function resume(request: FreezeRequest, dag: string): Promise<boolean> {
    const found = (await listHalts(request)).find(({ name }) => name === dag);
    if (found === undefined) return false;
    const { tenantId, actor } = callerOf(request);
    const { shard, dagId } = found;
    const command = { kind: 'ResumeDag', shard, tenantId, dagId, actor } as const;
    answerOf(await main.command(command, leftMs(request)), 'done', { dag });
    const { target } = request.params;
    const event = { tenantId, actor, action: 'dag.resumed', target, origin: request.ip, details: '{}' };
    await fromDatabase(() => queries.recordUse(event), request.log);
    return true;
  }

  function list(request: FastifyRequest): Promise<StoredFreeze[]> {
    const caller = callerOf(request);
    const who = { tenantId: caller.tenantId, isOfInstallation: isOfInstallation(caller) };
    return fromDatabase(() => queries.listFreezes(who), request.log);
  }

  /** The cluster, and tenants other than one's own, are for the tenant that runs the installation. */
  async function frozenOf(request: FreezeRequest, action: string): Promise<Frozen> {
    const caller = callerOf(request);
    const { kind, name } = parseOr(freezeTargetSchema, request.params.target, 'BAD_REQUEST');
    if (kind === 'cluster' || (kind === 'tenant' && name !== caller.tenant)) refuseOthers(caller, action);
    if (kind === 'cluster') return { tenantId: FIRST_TENANT, kind, name: '' };
    if (kind !== 'tenant') return { tenantId: caller.tenantId, kind, name };
    const tenant = await fromDatabase(() => queries.findTenant(name), request.log);
    if (tenant === null) throw new SignalboxError('TENANT_NOT_FOUND', { tenant: name });
    return { tenantId: tenant.tenantId, kind, name: '' };
  }

  /** Requests at the same moment may exceed it by a few. */
  async function assertRoom(request: FastifyRequest, frozen: Frozen): Promise<void> {
    if (frozen.kind === 'cluster' || frozen.kind === 'tenant') return;
    const own = (await list(request)).filter(({ kind }) => kind !== 'cluster' && kind !== 'tenant');
    if (own.length < MOST || own.some((one) => isSame(one, frozen))) return;
    throw new SignalboxError('TOO_MANY_FREEZES', { reason: String(MOST) });
  }

  /** A typing mistake must not look like a freeze. Queues are names alone. */
  async function assertThere(request: FastifyRequest, { tenantId, kind, name }: Frozen): Promise<void> {
    if (kind === 'dag' && (await fromDatabase(() => parts.dags.find(tenantId, name), request.log)) === null)
      throw new SignalboxError('DAG_NOT_FOUND', { dag: name });
    if (kind !== 'worker') return;
    const { workers } = await main.workers(tenantId, leftMs(request));
    if (!workers.some(({ id }) => id === name)) throw new SignalboxError('WORKER_NOT_FOUND', { worker: name });
  }
}

/** A dag that is halted is listed as one that the system froze, and is thawed in the same way. */
function haltView(halt: StoredHaltView): FreezeView {
  const { name, haltedAt } = halt;
  return { target: `dag:${name}`, reason: `Halted: ${haltReason(halt)}.`, since: toIso(haltedAt), by: 'system' };
}

function byOf(request: FreezeRequest): FreezeChange {
  const { tenantId: byTenantId, actor } = callerOf(request);
  return { byTenantId, target: request.params.target, actor, origin: request.ip };
}

function isSame(a: Frozen, b: Frozen): boolean {
  return a.tenantId === b.tenantId && a.kind === b.kind && a.name === b.name;
}

function viewOf({ kind, name, tenant, reason, frozenAt, frozenBy }: StoredFreeze): FreezeView {
  const target = kind === 'cluster' ? kind : `${kind}:${kind === 'tenant' ? tenant : name}`;
  return { target, reason, since: toIso(frozenAt), by: frozenBy };
}
