/** Starts of tasks that are limited per time, counted in spans: what must survive a handover. */
import type { ShardNo } from '../ids.ts';
import type { LimitName } from '../limit.ts';
import { c } from '../table/column.ts';
import { defineTable, type RowOf } from '../table/define-table.ts';
import { type ChangeOf, defineChange, notTold } from './define.ts';
import { f } from './fields.ts';

/** How many attempts started in a span, which begins at `fromAt`, and until when they count. Then the row goes. */
export const rateStarts = defineTable('rate_start', {
  key: { shard: c.shard, limit: c.named('limit_name', c.text<LimitName>()), fromAt: c.instant },
  columns: { untilAt: c.instant, starts: c.int32() },
  load: 'heads',
});

const rateUsed = defineChange('RateUsed', {
  no: 201,
  since: 11,
  fields: {
    shard: f.uint<ShardNo>(),
    limit: f.text<LimitName>(),
    fromAt: f.instant,
    untilAt: f.instant,
    /** In all, in this span. */
    starts: f.uint(),
  },
  tables: ({ shard, limit, fromAt, untilAt, starts }, tables) =>
    tables.put(rateStarts, { shard, limit, fromAt, untilAt, starts }),
  // The claim tells it.
  event: notTold,
});

/** The starts of the span count no more. */
const rateFreed = defineChange('RateFreed', {
  no: 202,
  since: 11,
  fields: { shard: f.uint<ShardNo>(), limit: f.text<LimitName>(), fromAt: f.instant },
  tables: ({ shard, limit, fromAt }, tables) => tables.remove(rateStarts, { shard, limit, fromAt }),
  event: notTold,
});

export type StoredRateStart = RowOf<typeof rateStarts>;
export interface RateUsed extends ChangeOf<typeof rateUsed> {}
export interface RateFreed extends ChangeOf<typeof rateFreed> {}
export type RateChange = RateUsed | RateFreed;

export const rateChanges = [rateUsed, rateFreed] as const;
export const rateTables = { rateStarts } as const;
