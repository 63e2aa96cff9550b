/** Keys of live runs, where a dag limits its runs by key. */
import { type DagId, type RunId, type RunUid, type ShardNo, shardOfRun } from '../ids.ts';
import { c } from '../table/column.ts';
import { defineTable, type RowOf } from '../table/define-table.ts';
import { type ChangeOf, defineChange, notTold } from './define.ts';
import { f } from './fields.ts';

/**
 * A row for each live run that has a key. All of them are loaded at a takeover: who has a key must be known before the first run is
 * admitted, and most runs are loaded later.
 */
export const runKeys = defineTable('run_key', {
  key: { shard: c.shard, dagId: c.int64<DagId>(), key: c.named('run_key', c.text()), runId: c.int64<RunId>() },
  columns: { uid: c.shown(c.uuid<RunUid>()), isActive: c.flag },
  load: 'heads',
});

/** The run has its key while it is active, waits for it before that, and has nothing to do with it once it has ended. */
const runKeySet = defineChange('RunKeySet', {
  no: 180,
  since: 9,
  fields: {
    runId: f.run,
    uid: f.uuid<RunUid>(),
    dagId: f.uint<DagId>(),
    key: f.text(),
    isLive: f.flag,
    isActive: f.flag,
  },
  tables({ runId, uid, dagId, key, isLive, isActive }, tables) {
    const shard: ShardNo = shardOfRun(runId);
    if (isLive) tables.put(runKeys, { shard, dagId, key, runId, uid, isActive });
    else tables.remove(runKeys, { shard, dagId, key, runId });
  },
  // The run itself tells it.
  event: notTold,
});

export type StoredRunKey = RowOf<typeof runKeys>;
export interface RunKeySet extends ChangeOf<typeof runKeySet> {}
export type RunKeyChange = RunKeySet;

export const runKeyChanges = [runKeySet] as const;
export const runKeyTables = { runKeys } as const;
