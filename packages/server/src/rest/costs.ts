/** Costs: sums of what attempts took, with the prices of their days; rate cards and budgets. */
import type { TenantId } from '@signalbox/engine';
import {
  type BudgetPage,
  type BudgetRemoved,
  type BudgetView,
  budgetTargetSchema,
  type Costs,
  costsCsv,
  costsQuerySchema,
  MAX_COST_DAYS,
  parseOr,
  type RateCardPage,
  type RateCardView,
  rateCardSchema,
  SignalboxError,
  setBudgetSchema,
} from '@signalbox/protocol';
import type { StoredBudget, StoredRateCard } from '@signalbox/store';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type DatedCard, daysOf, type Priced, priced, readCards, sumOf } from '../costs/pricing.ts';
import { dateOf, dayOf, dayOfDate, MILLION, spentOf } from '../costs/spent.ts';
import { toIso } from '../iso-instants.ts';
import { systemClock } from '../ports/clock.ts';
import { badRequest, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import { isOfInstallation, refuseOthers } from './operators.ts';
import type { RestParts } from './rest-parts.ts';

const USUAL_DAYS = 30;
const MOST_BUDGETS = 1_000;

type TargetRequest = FastifyRequest<{ Params: { target: string } }>;
interface Target {
  readonly tenantId: TenantId;
  readonly tenant: string;
  readonly dag: string | null;
}

export function costRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries } = parts;
  const cardsFor = async (request: FastifyRequest) =>
    readCards(await fromDatabase(() => queries.readRateCards(), request.log));

  app.get('/v1/costs', async (request, reply) => {
    const { format, ...query } = parseOr(costsQuerySchema, request.query, 'BAD_REQUEST');
    const costs = await read(request, query);
    if (format === 'json') return costs;
    reply.header('content-disposition', `attachment; filename="costs-${costs.from}-${costs.to}.csv"`);
    return reply.type('text/csv; charset=utf-8').send(costsCsv(costs));
  });

  app.get('/v1/costs/rates', async (request) => {
    const stored = await fromDatabase(() => queries.readRateCards(), request.log);
    return { items: stored.map(cardView).reverse(), cursor: null } satisfies RateCardPage;
  });

  app.put('/v1/costs/rates', async (request) => {
    const { actor } = callerOf(request);
    const card = parseOr(rateCardSchema, request.body, 'BAD_REQUEST');
    return once<RateCardView>(request, parts, {
      target: '',
      body: card,
      make: async () => {
        const known = await cardsFor(request);
        const other = known.find((one) => one.card.currency !== card.currency)?.card.currency;
        if (other !== undefined)
          throw badRequest('currency', `must be ${other}, as in earlier rate cards: sums have one currency`);
        const fromDay = dayOf(systemClock.wall());
        await fromDatabase(() => queries.setRateCard({ fromDay, card }, { actor, origin: request.ip }), request.log);
        const stored = await fromDatabase(() => queries.readRateCards(), request.log);
        return cardView(stored.findLast((one) => one.fromDay <= fromDay) as StoredRateCard);
      },
    });
  });

  app.get('/v1/costs/budgets', async (request) => {
    const caller = callerOf(request);
    const isAll = isOfInstallation(caller) && caller.role === 'admin';
    const budgets = await fromDatabase(() => queries.readBudgets(isAll ? null : caller.tenantId), request.log);
    const items = await viewsOf(request, budgets, caller.tenantId);
    return { items, cursor: null } satisfies BudgetPage;
  });

  app.put('/v1/costs/budgets/:target', async (request: TargetRequest) => {
    const { actor } = callerOf(request);
    const { amount } = parseOr(setBudgetSchema, request.body, 'BAD_REQUEST');
    const target = await targetOf(request, 'set budgets of other tenants');
    return once<BudgetView>(request, parts, {
      target: request.params.target,
      body: { amount },
      make: async () => {
        const all = await fromDatabase(() => queries.readBudgets(target.tenantId), request.log);
        if (all.length >= MOST_BUDGETS && !all.some(({ dag }) => dag === target.dag))
          throw badRequest('target', `is one too many: a tenant has at most ${MOST_BUDGETS} budgets`);
        const budget = { ...target, amount: Math.round(amount * MILLION) };
        await fromDatabase(() => queries.setBudget(budget, { actor, origin: request.ip }), request.log);
        return (await find(request, target)) as BudgetView;
      },
    });
  });

  app.delete('/v1/costs/budgets/:target', async (request: TargetRequest) => {
    const { actor } = callerOf(request);
    const target = await targetOf(request, 'remove budgets of other tenants');
    return once<BudgetRemoved>(request, parts, {
      target: request.params.target,
      body: null,
      make: async (_key, again) => {
        const isGone = await fromDatabase(
          () => queries.removeBudget(target, { actor, origin: request.ip }),
          request.log,
        );
        if (!isGone && !again) throw new SignalboxError('BUDGET_NOT_FOUND', { target: request.params.target });
        return { target: request.params.target };
      },
    });
  });

  async function read(
    request: FastifyRequest,
    { by, dag: given, ...asked }: Omit<ReturnType<typeof costsQuerySchema.parse>, 'format'>,
  ): Promise<Costs> {
    const dag = given ?? null;
    const caller = callerOf(request);
    if (by === 'tenant') {
      refuseOthers(caller, 'read costs of other tenants');
      if (caller.role !== 'admin') throw new SignalboxError('FORBIDDEN', { action: 'read costs of other tenants' });
      if (dag !== null) throw badRequest('dag', 'is of one tenant: leave it out, or ask by day, dag or task');
    }
    if (by === 'task' && dag === null) throw badRequest('dag', 'is missing: tasks are told of one dag');
    if (dag !== null && (await fromDatabase(() => queries.findDag(caller.tenantId, dag), request.log)) === null)
      throw new SignalboxError('DAG_NOT_FOUND', { dag });
    const [fromDay, toDay] = rangeOf(asked);
    const cards = await cardsFor(request);
    const days = daysOf(cards, fromDay, toDay);
    const tenantId = by === 'tenant' ? null : caller.tenantId;
    const rows = await fromDatabase(() => queries.readUsage({ tenantId, by, dag, days }), request.log);
    const list = priced(rows, cards);
    const nameOf =
      by === 'task' && dag !== null
        ? await taskNames(request, caller.tenantId, dag, list)
        : (key: string | null) => key;
    return {
      by,
      from: dateOf(fromDay),
      to: dateOf(toDay),
      currency: cards.at(-1)?.card.currency ?? null,
      items: itemsOf(list, by, nameOf),
      total: sumOf(list),
    };
  }

  /** A key is `<version>/<number>`: a task of that version, or a mapped group below zero. */
  async function taskNames(request: FastifyRequest, tenantId: TenantId, dag: string, list: readonly Priced[]) {
    const keys = list.map(({ row }) => (row.key ?? '/').split('/').map(Number) as [number, number]);
    const versions = [...new Set(keys.map(([version]) => version))];
    const names = await fromDatabase(() => queries.readVersionNames({ tenantId, dag, versions }), request.log);
    const byVersion = new Map(names.map((one) => [one.versionNo, one]));
    return (key: string | null) => {
      const [version = 0, no = 0] = (key ?? '/').split('/').map(Number);
      const known = byVersion.get(version);
      return (no < 0 ? known?.groups[-1 - no] : known?.tasks[no]) ?? null;
    };
  }

  /** Also of budgets of tenants that have spent nothing. */
  async function viewsOf(request: FastifyRequest, budgets: readonly StoredBudget[], own: TenantId) {
    const cards = await cardsFor(request);
    const now = systemClock.wall();
    const views: BudgetView[] = [];
    const spent = new Map<TenantId, Awaited<ReturnType<typeof spentOf>>>();
    for (const budget of budgets) {
      const { tenantId } = budget;
      const known =
        spent.get(tenantId) ?? (await fromDatabase(() => spentOf(queries, cards, { tenantId, now }), request.log));
      spent.set(tenantId, known);
      const isOwn = tenantId === own;
      views.push(
        budgetView(budget, isOwn, cards, budget.dag === null ? known.total : (known.byDag.get(budget.dag) ?? 0)),
      );
    }
    return views;
  }

  async function find(request: FastifyRequest, { tenantId, dag }: Target): Promise<BudgetView | undefined> {
    const all = await fromDatabase(() => queries.readBudgets(tenantId), request.log);
    const [view] = await viewsOf(
      request,
      all.filter((one) => one.dag === dag),
      callerOf(request).tenantId,
    );
    return view;
  }

  async function targetOf(request: TargetRequest, action: string): Promise<Target> {
    const caller = callerOf(request);
    const { tenant, dag } = parseOr(budgetTargetSchema, request.params.target, 'BAD_REQUEST');
    const own = { tenantId: caller.tenantId, tenant: caller.tenant };
    if (dag !== null) {
      const found = await fromDatabase(() => queries.findDag(caller.tenantId, dag), request.log);
      if (found === null) throw new SignalboxError('DAG_NOT_FOUND', { dag });
      return { ...own, dag };
    }
    if (tenant === null || tenant === caller.tenant) return { ...own, dag: null };
    refuseOthers(caller, action);
    const found = await fromDatabase(() => queries.findTenant(tenant), request.log);
    if (found === null) throw new SignalboxError('TENANT_NOT_FOUND', { tenant });
    return { tenantId: found.tenantId, tenant, dag: null };
  }
}

function rangeOf({ from, to }: { readonly from?: string | undefined; readonly to?: string | undefined }) {
  const last = to === undefined ? dayOf(systemClock.wall()) : dayOfDate(to);
  const first = from === undefined ? last - USUAL_DAYS + 1 : dayOfDate(from);
  if (first > last) throw badRequest('from', 'must not be after to');
  if (last - first >= MAX_COST_DAYS) throw badRequest('from', `must be at most ${MAX_COST_DAYS} days before to`);
  return [first, last] as const;
}

function itemsOf(list: readonly Priced[], by: Costs['by'], nameOf: (key: string | null) => string | null) {
  const groups = new Map<string | null, Priced[]>();
  for (const one of list) {
    const name = by === 'day' ? dateOf(Number(one.row.key)) : nameOf(one.row.key);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [one]);
    else group.push(one);
  }
  const items = [...groups].map(([name, group]) => ({ name, ...sumOf(group) }));
  const byName = (a: { name: string | null }, b: { name: string | null }) => ((a.name ?? '') < (b.name ?? '') ? -1 : 1);
  return by === 'day' ? items.sort(byName) : items.sort((a, b) => b.cost - a.cost || byName(a, b));
}

function cardView({ fromDay, card, setAt, setBy }: StoredRateCard): RateCardView {
  return { ...rateCardSchema.parse(card), from: dateOf(fromDay), setAt: toIso(setAt), setBy };
}

function budgetView(budget: StoredBudget, isOwn: boolean, cards: readonly DatedCard[], spent: number): BudgetView {
  const { dag, tenant, amount, setAt, setBy } = budget;
  return {
    // Of another tenant, to whoever runs the installation.
    target: dag === null ? `tenant:${tenant}` : isOwn ? `dag:${dag}` : `tenant:${tenant} dag:${dag}`,
    amount: amount / MILLION,
    spent: Math.round(spent * MILLION) / MILLION,
    currency: cards.at(-1)?.card.currency ?? null,
    setAt: toIso(setAt),
    setBy,
  };
}
