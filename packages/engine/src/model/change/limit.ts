/** Limits that span shards: the limit and its grants at its home, and what a shard has of it. */
import type { Actor, ShardNo, TenantId } from '../ids.ts';
import { isKept, type LimitName, shownLimit } from '../limit.ts';
import { c } from '../table/column.ts';
import { defineTable, type RowOf } from '../table/define-table.ts';
import { type ChangeOf, defineChange, notTold } from './define.ts';
import { f } from './fields.ts';

const key = { shard: c.shard, limit: c.named('limit_name', c.text<LimitName>()) } as const;

/** At the home of each limit. A row stays when the limit goes: the sums of its grants must not begin again. */
export const limits = defineTable('slot_limit', {
  key,
  columns: {
    tenantId: c.int32<TenantId>(),
    slots: c.nullable(c.int32()),
    /** Of this setting: they grow. */
    no: c.int64(),
    /** Of the setting since which there is a limit without a break. */
    sinceNo: c.int64(),
    setAt: c.shown(c.instant),
    setBy: c.shown(c.text<Actor>()),
  },
  load: 'heads',
});

/** At the home: what each shard was given, and what it said. What it has is `given + seized - returned` at most. */
export const grants = defineTable('slot_grant', {
  key: { ...key, holder: c.int32<ShardNo>() },
  columns: { given: c.int64(), seized: c.int64(), returned: c.int64(), heardNo: c.int64() },
  load: 'heads',
});

/** At each shard: what it has is `taken + seized - returned`. */
export const holds = defineTable('slot_hold', {
  key,
  columns: { no: c.int64(), isLimited: c.flag, taken: c.int64(), seized: c.int64(), returned: c.int64() },
  load: 'heads',
});

const limitSet = defineChange('LimitSet', {
  no: 130,
  since: 8,
  fields: {
    shard: f.uint<ShardNo>(),
    tenantId: f.uint<TenantId>(),
    limit: f.text<LimitName>(),
    slots: f.nullable(f.uint()),
    no: f.uint(),
    sinceNo: f.uint(),
    actor: f.text<Actor>(),
    at: f.instant,
  },
  tables: ({ shard, tenantId, limit, slots, no, sinceNo, actor, at }, tables) =>
    tables.put(limits, { shard, tenantId, limit, slots, no, sinceNo, setAt: at, setBy: actor }),
  // What is kept follows the workers: nobody sets it.
  event: ({ limit, slots, actor }) =>
    isKept(limit) ? null : { kind: 'limit.set', details: { limit: shownLimit(limit), slots, actor } },
});

/** What the home knows of the slots of one shard. */
const slotsGranted = defineChange('SlotsGranted', {
  no: 131,
  since: 8,
  fields: {
    shard: f.uint<ShardNo>(),
    limit: f.text<LimitName>(),
    holder: f.uint<ShardNo>(),
    given: f.uint(),
    seized: f.uint(),
    returned: f.uint(),
    heardNo: f.uint(),
  },
  tables: ({ kind: _kind, ...row }, tables) => tables.put(grants, row),
  event: notTold,
});

/** A shard has taken slots, gives some back, or has heard of the limit. */
const slotsHeld = defineChange('SlotsHeld', {
  no: 132,
  since: 8,
  fields: {
    shard: f.uint<ShardNo>(),
    limit: f.text<LimitName>(),
    no: f.uint(),
    isLimited: f.flag,
    taken: f.uint(),
    seized: f.uint(),
    returned: f.uint(),
  },
  tables: ({ kind: _kind, ...row }, tables) => tables.put(holds, row),
  event: notTold,
});

export type StoredLimit = RowOf<typeof limits>;
export type StoredGrant = RowOf<typeof grants>;
export type StoredHold = RowOf<typeof holds>;

export interface LimitSet extends ChangeOf<typeof limitSet> {}
export interface SlotsGranted extends ChangeOf<typeof slotsGranted> {}
export interface SlotsHeld extends ChangeOf<typeof slotsHeld> {}
export type LimitChange = LimitSet | SlotsGranted | SlotsHeld;

export const limitChanges = [limitSet, slotsGranted, slotsHeld] as const;
export const limitTables = { limits, grants, holds } as const;
