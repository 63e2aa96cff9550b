/** Quotas of tenants: what people set, drawn, and how nodes read it. */
import {
  type Actor,
  type Command,
  type Instant,
  QUOTA_NAMES,
  type QuotaName,
  type QuotaRule,
  quotaHome,
  type TenantId,
} from '@signalbox/engine';
import type { FakeDatabase } from '../fake-store/index.ts';
import type { Chance } from './chance.ts';

type Described = Pick<FakeDatabase['tables'], 'described'>;

/** In most histories nobody has a quota: it would keep much from happening. */
export function usesQuotas(chance: Chance): boolean {
  return chance.fork('use of quotas').happens(0.3);
}

/** Small ones: histories have some dozens of runs of each tenant. */
const MOST: Readonly<Record<QuotaName, readonly [number, number]>> = {
  submits: [2, 12],
  deploys: [2, 8],
  runs: [2, 10],
  tasks: [1, 4],
  failures: [1, 5],
  fanout: [4, 30],
};

/** Somebody sets a quota, raises one, or removes one. */
export function planQuota(chance: Chance, tenants: readonly TenantId[], now: number, actor: Actor): Command {
  const tenantId = chance.pick(tenants);
  const quota = chance.pick(QUOTA_NAMES);
  const ofQuota = { shard: quotaHome(tenantId), tenantId, quota, actor };
  const draw = chance.next();
  if (draw < 0.1) return { kind: 'SetQuota', ...ofQuota, soft: null, hard: null };
  const [least, most] = MOST[quota];
  const hard = chance.happens(0.85) ? chance.int(least, most) : null;
  const soft = hard === null || chance.happens(0.5) ? chance.int(1, hard ?? most) : null;
  if (draw < 0.35) {
    const until = (now + chance.int(1_000, 15_000)) as Instant;
    return { kind: 'RaiseQuota', ...ofQuota, soft, hard: hard === null ? null : hard + most, until, reason: 'drawn' };
  }
  return { kind: 'SetQuota', ...ofQuota, soft, hard };
}

/** So that everything can come to its end. */
export function quotasLeft(tables: Described, actor: Actor): Command[] {
  return tables.described.all('quotas').map(({ shard, tenantId, quota }) => ({
    ...({ kind: 'SetQuota', shard, tenantId, quota } as const),
    ...{ soft: null, hard: null, actor },
  }));
}

/** As a node reads them from the database. */
export function quotasIn(tables: Described, now: number): QuotaRule[] {
  return tables.described.all('quotas').map(({ tenantId, quota, soft, hard, raisedSoft, raisedHard, raisedUntil }) => {
    const isRaised = raisedUntil !== null && raisedUntil > now;
    const limits = isRaised ? { soft: raisedSoft, hard: raisedHard } : { soft, hard };
    return { tenantId, quota, ...limits, used: usedOf(tables, { tenantId, quota }, now) };
  });
}

function usedOf(
  tables: Described,
  { tenantId, quota }: { readonly tenantId: TenantId; readonly quota: QuotaName },
  now: number,
): number {
  if (quota !== 'failures' && quota !== 'runs' && quota !== 'fanout') return 0;
  const sums = new Map<string, number>();
  for (const { limit, untilAt, starts } of tables.described.all('rateStarts')) {
    if (untilAt <= now || !limit.startsWith(`quota/${quota}/${tenantId}/`)) continue;
    sums.set(limit, (sums.get(limit) ?? 0) + starts);
  }
  const all = [...sums.values()];
  return quota !== 'failures' ? Math.max(0, ...all) : all.reduce((sum, one) => sum + one, 0);
}
