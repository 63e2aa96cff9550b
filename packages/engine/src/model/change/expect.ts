/** Events that are expected, and those that did not come. */
import type { ExpectSpec } from '../expect.ts';
import type { DagId, ShardNo, TenantId } from '../ids.ts';
import { c } from '../table/column.ts';
import { defineTable, type RowOf } from '../table/define-table.ts';
import { type ChangeOf, defineChange, notTold } from './define.ts';
import { f } from './fields.ts';

const key = { shard: c.shard, dagId: c.int64<DagId>(), name: c.text() } as const;
const fields = { shard: f.uint<ShardNo>(), dagId: f.uint<DagId>(), name: f.text() } as const;

export const expectations = defineTable('expectation', {
  key,
  columns: {
    tenantId: c.int32<TenantId>(),
    spec: c.json<ExpectSpec>(),
    /** The time that it looks at begins here. */
    sinceAt: c.instant,
    /** When an event must have come; null: not before another one has come. */
    dueAt: c.nullable(c.instant),
    /** When the last one came. */
    lastAt: c.nullable(c.instant),
  },
  load: 'heads',
});

/** What the server has to send to triggers: it removes the row when all of them have it. */
export const missedEvents = defineTable('missed_event', {
  key: { ...key, dueAt: c.instant },
  columns: { tenantId: c.int32<TenantId>(), spec: c.json<ExpectSpec>(), sinceAt: c.instant, at: c.instant },
  load: 'none',
});

/** An expectation begins, has seen an event, or looks at its next time. */
const expectationSet = defineChange('ExpectationSet', {
  no: 93,
  since: 7,
  fields: {
    ...fields,
    tenantId: f.uint<TenantId>(),
    spec: f.json<ExpectSpec>(),
    sinceAt: f.instant,
    dueAt: f.nullable(f.instant),
    lastAt: f.nullable(f.instant),
    at: f.instant,
  },
  tables: ({ kind: _kind, at: _at, ...row }, tables) => tables.put(expectations, row),
  event: notTold,
});

const expectationRemoved = defineChange('ExpectationRemoved', {
  no: 94,
  since: 7,
  fields: { ...fields, at: f.instant },
  tables: (change, tables) => tables.remove(expectations, change),
  event: notTold,
});

/** No event came in the time from `sinceAt` to `dueAt`. */
const eventMissed = defineChange('EventMissed', {
  no: 95,
  since: 7,
  fields: {
    ...fields,
    tenantId: f.uint<TenantId>(),
    spec: f.json<ExpectSpec>(),
    sinceAt: f.instant,
    dueAt: f.instant,
    at: f.instant,
  },
  tables: ({ kind: _kind, ...row }, tables) => tables.put(missedEvents, row),
  event: ({ name: expect, sinceAt, dueAt }, show) => ({
    kind: 'event.missing',
    details: { expect, since: show(sinceAt), by: show(dueAt) },
  }),
});

export type StoredExpectation = RowOf<typeof expectations>;

export interface ExpectationSet extends ChangeOf<typeof expectationSet> {}
export interface ExpectationRemoved extends ChangeOf<typeof expectationRemoved> {}
export interface EventMissed extends ChangeOf<typeof eventMissed> {}
export type ExpectChange = ExpectationSet | ExpectationRemoved | EventMissed;

export const expectChanges = [expectationSet, expectationRemoved, eventMissed] as const;
export const expectTables = { expectations, missedEvents } as const;
