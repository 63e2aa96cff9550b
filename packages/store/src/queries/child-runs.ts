/** The child runs of a run. Their ids follow from the calls; whether they exist is looked up. */
import { childUid, type RunUid, type ShardNo, TaskNames, type TenantId } from '@signalbox/engine';
import type { Database } from '../database.ts';
import { findRunIdsByUid } from '../fetch.ts';
import type { KnownDays } from '../leaf.ts';
import { call, statement } from '../statement.ts';
import { decodeText, textArray } from '../text.ts';
import type { RunDetails } from './run-details.ts';
import type { AttemptView } from './task-view.ts';

const NONE: ReadonlyMap<string, RunUid> = new Map();

/** Leans on the unique index (tenant_id, name). */
const selectShards = statement(
  'view_called_dags',
  'select name, shard from dag where tenant_id = $1::integer and name = any ($2::text[])',
);

export const childKey = ({ taskNo, attemptNo }: Pick<AttemptView, 'taskNo' | 'attemptNo'>): string =>
  `${taskNo}/${attemptNo}`;

export async function findChildren(
  database: Database,
  days: KnownDays,
  tenantId: TenantId,
  run: Pick<RunDetails, 'runId' | 'spec' | 'tasks' | 'supersededAttempts' | 'maps'>,
): Promise<ReadonlyMap<string, RunUid>> {
  if (run.spec.tasks.every(({ child }) => child === undefined)) return NONE;
  const names = new TaskNames(run.spec, run.maps);
  const calls = [...run.supersededAttempts, ...run.tasks].flatMap((attempt) => {
    const dag = run.spec.tasks[names.specOf(attempt.taskNo) ?? attempt.taskNo]?.child?.dag;
    return dag === undefined ? [] : [{ ...attempt, dag }];
  });
  if (calls.length === 0) return NONE;
  return database.snapshot(async (ask) => {
    const called = textArray([...new Set(calls.map(({ dag }) => dag))]);
    const [dags] = await ask([call(selectShards, tenantId, called)]);
    const shards = new Map(
      dags?.rows.map(([name, shard]): [string, ShardNo] => [decodeText(name ?? ''), Number(shard) as ShardNo]),
    );
    const wanted = calls.flatMap(({ dag, taskNo, attemptNo, claimedAt }) => {
      const shard = shards.get(dag);
      if (shard === undefined) return [];
      const uid = childUid(shard, { runId: run.runId, taskNo, attemptNo }, claimedAt);
      return [{ key: childKey({ taskNo, attemptNo }), shard, uid }];
    });
    const there = await findRunIdsByUid(ask, days, wanted);
    return new Map(wanted.flatMap(({ key, uid }) => (there.has(uid) ? [[key, uid] as const] : [])));
  });
}
