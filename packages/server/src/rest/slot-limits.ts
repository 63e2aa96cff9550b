/** Limits over several dags: who may set which, and who has their slots. */
import {
  CLUSTER_LIMIT,
  homeOf,
  isPool,
  isStarts,
  type LimitName,
  poolLimit,
  type QueueName,
  queueLimit,
  shownLimit,
  span,
  startsLimit,
  startsOf,
  type TenantId,
  tenantLimit,
} from '@signalbox/engine';
import {
  type LimitDetails,
  type LimitPage,
  type LimitRemoved,
  type LimitView,
  limitNameSchema,
  parseOr,
  SignalboxError,
  setLimitSchema,
} from '@signalbox/protocol';
import type { StoredSlotLimit } from '@signalbox/store';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { toIso } from '../iso-instants.ts';
import { answerOf, badRequest, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import { isOfInstallation, refuseOthers } from './operators.ts';
import type { RestParts } from './rest-parts.ts';

type LimitRequest = FastifyRequest<{ Params: { limit: string } }>;

/** What a tenant can have. The names of limits that were removed are kept (`ever`). */
const MOST: Readonly<Record<string, { readonly set: number; readonly ever: number; readonly what: string }>> = {
  pool: { set: 1_000, ever: 5_000, what: 'pools' },
  queue: { set: 200, ever: 1_000, what: 'queue caps' },
  rate: { set: 200, ever: 1_000, what: 'rates' },
};

interface Named {
  readonly kind: string;
  /** As people write it. */
  readonly name: string;
  /** Of a rate: what it is of. */
  readonly limit: LimitName;
  readonly isRate: boolean;
  /** Who reads of it. */
  readonly tenantId: TenantId;
}

export function slotLimitRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries, main, leftMs } = parts;

  app.get('/v1/limits', async (request) => {
    const caller = callerOf(request);
    const who = { tenantId: caller.tenantId, isOfInstallation: isOfInstallation(caller) };
    const found = await fromDatabase(() => queries.listSlotLimits(who), request.log);
    return { items: found.map((one) => viewOf(one, shownName(one))), cursor: null } satisfies LimitPage;
  });

  app.get('/v1/limits/:limit', async (request: LimitRequest): Promise<LimitDetails> => {
    const named = await nameOf(request, 'see limits of other tenants');
    const stored = await find(request, named);
    const { holders, used, waiting, missing } = await main.slots(stored.limit, leftMs(request));
    const view = viewOf(stored, named.name);
    const items = holders.map(({ since, ...holder }) => ({ ...holder, since: toIso(since) }));
    return { ...view, used, waiting, holders: items, missing: [...missing] };
  });

  app.put('/v1/limits/:limit', async (request: LimitRequest) => {
    const { slots, per } = parseOr(setLimitSchema, request.body, 'BAD_REQUEST');
    const named = await nameOf(request, 'set this limit', true);
    if (named.isRate !== (per !== undefined))
      throw badRequest(
        'per',
        named.isRate
          ? 'is missing: a rate is so many starts per time, such as 1m'
          : 'is for rates, such as rate:queue:default',
      );
    const limit = per === undefined ? named.limit : startsLimit(named.limit, per);
    return once<LimitView>(request, parts, {
      target: named.name,
      body: request.body,
      make: async () => {
        await assertRoom(request, { ...named, limit });
        const before = named.isRate ? await findRates(request, named) : [];
        await send(request, { ...named, limit }, slots);
        // Per another time it is another limit. Until this one goes, both hold.
        for (const old of before) if (old.limit !== limit) await send(request, { ...named, limit: old.limit }, null);
        return viewOf(await find(request, { ...named, limit, isRate: false }), named.name);
      },
    });
  });

  app.delete('/v1/limits/:limit', async (request: LimitRequest) => {
    const named = await nameOf(request, 'remove this limit', true);
    return once<LimitRemoved>(request, parts, {
      target: named.name,
      make: async (_key, again) => {
        if (!again) await find(request, named);
        const set = named.isRate ? await findRates(request, named) : [named];
        for (const { limit } of set) await send(request, { ...named, limit }, null);
        return { name: named.name, removed: true };
      },
    });
  });

  /** Each cap costs every shard something, set or removed. Requests at the same moment may exceed it by a few. */
  async function assertRoom(request: FastifyRequest, { kind, limit, tenantId, isRate }: Named): Promise<void> {
    const most = MOST[isRate ? 'rate' : kind];
    if (most === undefined) return;
    const has = await fromDatabase(() => queries.countSlotLimits(tenantId, limit), request.log);
    if (!has.isSet && has.set >= most.set)
      throw new SignalboxError('TOO_MANY_LIMITS', { reason: `${most.set} ${most.what}` });
    if (!has.wasSet && has.ever >= most.ever)
      throw new SignalboxError('TOO_MANY_LIMITS', {
        reason: `${most.ever} ${most.what}, with those that were removed`,
      });
  }

  async function send(request: FastifyRequest, { limit, tenantId }: Named, slots: number | null): Promise<void> {
    const { actor } = callerOf(request);
    const command = { kind: 'SetLimit', shard: homeOf(limit), tenantId, limit, slots, actor } as const;
    answerOf(await main.command(command, leftMs(request)), 'done', {});
  }

  async function find(request: FastifyRequest, named: Named): Promise<StoredSlotLimit> {
    const { name, limit } = named;
    const [found] = named.isRate
      ? await findRates(request, named)
      : await fromDatabase(() => queries.findSlotLimits([limit]), request.log);
    if (found === undefined) throw new SignalboxError('LIMIT_NOT_FOUND', { limit: name });
    return found;
  }

  function findRates(request: FastifyRequest, { limit }: Named): Promise<StoredSlotLimit[]> {
    return fromDatabase(() => queries.findSlotRates([limit]), request.log);
  }

  /** Caps of tenants and of the cluster are for the tenant that runs the installation; a tenant may see its own. */
  async function nameOf(request: LimitRequest, action: string, isChange = false): Promise<Named> {
    const caller = callerOf(request);
    const { tenantId } = caller;
    const { kind, name, isRate } = parseOr(limitNameSchema, request.params.limit, 'BAD_REQUEST');
    const shown = { kind, name: request.params.limit, isRate };
    if (kind === 'pool') return { ...shown, limit: poolLimit(tenantId, name), tenantId };
    if (kind === 'queue') return { ...shown, limit: queueLimit(tenantId, name as QueueName), tenantId };
    const isOwn = kind === 'tenant' && name === caller.tenant;
    if (isChange || !isOwn) refuseOthers(caller, action);
    if (kind === 'cluster') return { ...shown, limit: CLUSTER_LIMIT, tenantId };
    const tenant = await fromDatabase(() => queries.findTenant(name), request.log);
    if (tenant === null) throw new SignalboxError('TENANT_NOT_FOUND', { tenant: name });
    return { ...shown, limit: tenantLimit(tenant.tenantId), tenantId: tenant.tenantId };
  }
}

function shownName({ limit, tenant }: StoredSlotLimit): string {
  const shown = shownLimit(limit);
  return /(^|:)tenant$/.test(shown) ? `${shown}:${tenant}` : shown;
}

function viewOf({ limit, slots, granted, isUnheard, setAt, setBy }: StoredSlotLimit, name: string): LimitView {
  const what = isPool(limit) ? 'that takes slots of it' : 'under it';
  const warnings = slots === 0 ? [`It has no slots: no task ${what} starts.`] : [];
  const per = isStarts(limit) ? span(startsOf(limit).perMs) : null;
  return { name, slots, per, granted, pending: isUnheard || granted > slots, setAt: toIso(setAt), setBy, warnings };
}
