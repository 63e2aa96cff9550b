/** Dags that are halted because they created too much: nothing of them starts until somebody resumes them. */
import type { HaltCause } from '../halt.ts';
import type { Actor, DagId, ShardNo, TenantId } from '../ids.ts';
import { c } from '../table/column.ts';
import { defineTable, type RowOf } from '../table/define-table.ts';
import { type ChangeOf, defineChange } from './define.ts';
import { f } from './fields.ts';

export const haltedDags = defineTable('halted_dag', {
  key: { shard: c.shard, dagId: c.int64<DagId>() },
  columns: {
    tenantId: c.int32<TenantId>(),
    cause: c.shown(c.text<HaltCause>()),
    /** How many tasks there were, and how many are allowed. */
    tasks: c.shown(c.int64()),
    most: c.shown(c.int64()),
    haltedAt: c.shown(c.instant),
  },
  load: 'heads',
});

const dagHalted = defineChange('DagHalted', {
  no: 320,
  since: 13,
  fields: {
    shard: f.uint<ShardNo>(),
    tenantId: f.uint<TenantId>(),
    dagId: f.uint<DagId>(),
    cause: f.text<HaltCause>(),
    tasks: f.uint(),
    most: f.uint(),
    at: f.instant,
  },
  tables: ({ shard, dagId, tenantId, cause, tasks, most, at }, tables) =>
    tables.put(haltedDags, { shard, dagId, tenantId, cause, tasks, most, haltedAt: at }),
  event: ({ cause, tasks, most }) => ({ kind: 'dag.halted', details: { cause, tasks, most } }),
});

const dagResumed = defineChange('DagResumed', {
  no: 321,
  since: 13,
  fields: {
    shard: f.uint<ShardNo>(),
    tenantId: f.uint<TenantId>(),
    dagId: f.uint<DagId>(),
    actor: f.text<Actor>(),
    at: f.instant,
  },
  tables: ({ shard, dagId }, tables) => tables.remove(haltedDags, { shard, dagId }),
  event: ({ actor }) => ({ kind: 'dag.resumed', details: { actor } }),
});

export type StoredHalt = RowOf<typeof haltedDags>;
export interface DagHalted extends ChangeOf<typeof dagHalted> {}
export interface DagResumed extends ChangeOf<typeof dagResumed> {}
export type HaltChange = DagHalted | DagResumed;

export const haltChanges = [dagHalted, dagResumed] as const;
export const haltTables = { haltedDags } as const;
