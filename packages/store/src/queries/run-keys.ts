/** Who has the key of runs, where a dag limits its runs by key. */
import type { DagId, RunUid, ShardNo } from '@signalbox/engine';
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';
import { encodeText } from '../text.ts';
import type { ShownSpecs } from './shown-specs.ts';

/** By primary key. Oldest first. */
const selectHolders = statement(
  'select_run_key_holders',
  `select uid from run_key where shard = $1::smallint and dag_id = $2::bigint and run_key = $3::text and is_active order by run_id limit 1000`,
);

const selectCurrent = statement(
  'select_current_version_no',
  'select version_no from dag where shard = $1::smallint and dag_id = $2::bigint',
);

export interface KeyHolders {
  /** That of the current version; null where it has none. */
  readonly limit: number | null;
  readonly runs: readonly RunUid[];
}

export async function holdersOfKey(
  database: Database,
  shown: ShownSpecs,
  { shard, dagId, key }: { readonly shard: ShardNo; readonly dagId: DagId; readonly key: string },
): Promise<KeyHolders> {
  return database.snapshot(async (ask) => {
    const [holders, current] = await ask([
      call(selectHolders, shard, dagId, encodeText(key)),
      call(selectCurrent, shard, dagId),
    ]);
    const versionNo = Number(current?.rows[0]?.[0]);
    const [spec] = await shown.read(ask, [{ shard, dagId, versionNo } as Parameters<ShownSpecs['read']>[1][number]]);
    const runs = (holders?.rows ?? []).map(([uid]) => uid as RunUid);
    return { limit: spec?.concurrency?.limit ?? null, runs };
  });
}
