/** Assets that were produced, and what became of the news. */
import type { AssetInputs } from '../asset.ts';
import type { Actor, DagId, RunUid, ShardNo, TenantId } from '../ids.ts';
import { c } from '../table/column.ts';
import { defineTable, type RowOf } from '../table/define-table.ts';
import { type ChangeOf, defineChange, notTold } from './define.ts';
import { f } from './fields.ts';

const key = { shard: c.shard, tenantId: c.int32<TenantId>(), name: c.text() } as const;
const fields = { shard: f.uint<ShardNo>(), tenantId: f.uint<TenantId>(), name: f.text(), no: f.uint() } as const;

/** When each asset was produced last on this shard. */
export const assets = defineTable('asset', {
  key,
  columns: {
    no: c.int64(),
    run: c.nullable(c.uuid<RunUid>()),
    dag: c.nullable(c.text()),
    task: c.nullable(c.text()),
    actor: c.shown(c.text<Actor>()),
    at: c.instant,
  },
  load: 'heads',
});

/** Up to which number all dags that wait for an asset were told. What is beyond is told again until it has arrived (D10). */
export const assetsTold = defineTable('asset_told', { key, columns: { no: c.int64() }, load: 'heads' });

/** What the asset triggers of a dag have taken. */
export const assetInputs = defineTable('asset_input', {
  key: { shard: c.shard, dagId: c.int64<DagId>(), trigger: c.named('trigger_name', c.text()) },
  columns: { inputs: c.json<AssetInputs>() },
  load: 'heads',
});

/** A task that produces the asset has succeeded, or somebody says that it is fresh. */
const assetProduced = defineChange('AssetProduced', {
  no: 90,
  since: 7,
  fields: {
    ...fields,
    /** Absent where no run has produced it. */
    runId: f.optional(f.run),
    run: f.nullable(f.uuid<RunUid>()),
    dag: f.nullable(f.text()),
    task: f.nullable(f.text()),
    actor: f.text<Actor>(),
    at: f.instant,
  },
  tables: ({ kind: _kind, runId: _runId, ...row }, tables) => tables.put(assets, row),
  event: ({ name: asset, task, actor }) => ({ kind: 'asset.produced', details: { asset, task, actor } }),
});

const assetTold = defineChange('AssetTold', {
  no: 91,
  since: 7,
  fields: { ...fields, at: f.instant },
  tables: ({ shard, tenantId, name, no }, tables) => tables.put(assetsTold, { shard, tenantId, name, no }),
  event: notTold,
});

/** A trigger has heard of an asset. Where that makes a run, the run is created in the same commit. */
const assetTaken = defineChange('AssetTaken', {
  no: 92,
  since: 7,
  fields: {
    shard: f.uint<ShardNo>(),
    dagId: f.uint<DagId>(),
    trigger: f.text(),
    /** All that the trigger knows now. */
    inputs: f.json<AssetInputs>(),
    at: f.instant,
  },
  tables: ({ shard, dagId, trigger, inputs }, tables) => tables.put(assetInputs, { shard, dagId, trigger, inputs }),
  event: notTold,
});

export type StoredAsset = RowOf<typeof assets>;
export type StoredAssetTold = RowOf<typeof assetsTold>;

export interface AssetProduced extends ChangeOf<typeof assetProduced> {}
export interface AssetTold extends ChangeOf<typeof assetTold> {}
export interface AssetTaken extends ChangeOf<typeof assetTaken> {}
export type AssetChange = AssetProduced | AssetTold | AssetTaken;

export const assetChanges = [assetProduced, assetTold, assetTaken] as const;
export const assetTables = { assets, assetsTold, assetInputs } as const;
