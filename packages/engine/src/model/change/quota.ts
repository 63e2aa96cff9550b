/** Quotas of tenants, kept at the home of the tenant. What is counted under them is in `rate.ts`. */
import type { Actor, DagId, ShardNo, TenantId } from '../ids.ts';
import type { QuotaLevel, QuotaName } from '../quota.ts';
import { c } from '../table/column.ts';
import { defineTable, type RowOf } from '../table/define-table.ts';
import { type ChangeOf, defineChange } from './define.ts';
import { f } from './fields.ts';
import { WORDS } from './words.ts';

const key = { shard: c.shard, tenantId: c.int32<TenantId>(), quota: c.text<QuotaName>() } as const;

export const quotas = defineTable('quota', {
  key,
  columns: {
    soft: c.nullable(c.int64()),
    hard: c.nullable(c.int64()),
    /** In place of the two above, until then. */
    raisedSoft: c.nullable(c.int64()),
    raisedHard: c.nullable(c.int64()),
    raisedUntil: c.nullable(c.instant),
    reason: c.nullable(c.shown(c.text())),
    /** How much of it is used, as far as anybody was told. */
    level: c.word<QuotaLevel>(WORDS.quotaLevels),
    setAt: c.shown(c.instant),
    setBy: c.shown(c.text<Actor>()),
  },
  load: 'heads',
});

/** A quota was set or raised, or a raise is over. Without any limit there is no such quota any more. */
const quotaSet = defineChange('QuotaSet', {
  no: 280,
  since: 12,
  fields: {
    shard: f.uint<ShardNo>(),
    tenantId: f.uint<TenantId>(),
    quota: f.text<QuotaName>(),
    soft: f.nullable(f.uint()),
    hard: f.nullable(f.uint()),
    raisedSoft: f.nullable(f.uint()),
    raisedHard: f.nullable(f.uint()),
    raisedUntil: f.nullable(f.instant),
    reason: f.nullable(f.text()),
    level: f.word<QuotaLevel>(WORDS.quotaLevels),
    actor: f.text<Actor>(),
    at: f.instant,
  },
  tables({ kind: _kind, actor, at, ...row }, tables) {
    const { shard, tenantId, quota } = row;
    if (row.soft === null && row.hard === null) tables.remove(quotas, { shard, tenantId, quota });
    else tables.put(quotas, { ...row, setAt: at, setBy: actor });
  },
  event: ({ quota, soft, hard, raisedSoft, raisedHard, raisedUntil, reason, actor }, show) => ({
    kind: 'quota.set',
    details: { quota, soft, hard, raisedSoft, raisedHard, raisedUntil: show(raisedUntil), reason, actor },
  }),
});

/** More of a quota is used than its soft limit, or all of its hard one; or no longer. The owners are told. */
const quotaPassed = defineChange('QuotaPassed', {
  no: 281,
  since: 12,
  fields: {
    shard: f.uint<ShardNo>(),
    tenantId: f.uint<TenantId>(),
    quota: f.text<QuotaName>(),
    level: f.word<QuotaLevel>(WORDS.quotaLevels),
    used: f.uint(),
    soft: f.nullable(f.uint()),
    hard: f.nullable(f.uint()),
    at: f.instant,
  },
  tables: ({ shard, tenantId, quota, level }, tables) => tables.patch(quotas, { shard, tenantId, quota }, { level }),
  event: ({ quota, level, used, soft, hard }) => ({ kind: 'quota.level', details: { quota, level, used, soft, hard } }),
});

/** The runs of a dag have passed a limit of runs per day. Nothing is stored of it: what counts is in `rate.ts`. */
const dagQuotaPassed = defineChange('DagQuotaPassed', {
  no: 282,
  since: 12,
  fields: {
    shard: f.uint<ShardNo>(),
    tenantId: f.uint<TenantId>(),
    dagId: f.uint<DagId>(),
    level: f.word<QuotaLevel>(WORDS.quotaLevels),
    used: f.uint(),
    soft: f.nullable(f.uint()),
    hard: f.nullable(f.uint()),
    at: f.instant,
  },
  event: ({ level, used, soft, hard }) => ({
    kind: 'quota.level',
    details: { quota: 'runs', level, used, soft, hard },
  }),
});

export type StoredQuota = RowOf<typeof quotas>;
export interface QuotaSet extends ChangeOf<typeof quotaSet> {}
export interface QuotaPassed extends ChangeOf<typeof quotaPassed> {}
export interface DagQuotaPassed extends ChangeOf<typeof dagQuotaPassed> {}
export type QuotaChange = QuotaSet | QuotaPassed | DagQuotaPassed;

export const quotaChanges = [quotaSet, quotaPassed, dagQuotaPassed] as const;
export const quotaTables = { quotas } as const;
