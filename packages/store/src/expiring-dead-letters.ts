/** Finds dead letters that have expired, and removes those that were closed long ago. For upkeep, which works across tenants. */
import type { AttemptNo, DeadLetterRef, Instant, RunId, ShardNo, TaskNo } from '@signalbox/engine';
import type { Database } from './database.ts';
import { call, statement } from './statement.ts';

export interface DeadLetterExpiry {
  /** Open ones that are older expire, … */
  readonly olderThan: Instant;
  /** … and the oldest of a dag that has more than this, or than its spec says. */
  readonly mostOfDag: number;
  readonly limit: number;
}

/** Leans on the index (shard, dag_id, at) where state = 0: one walk over what is open. */
const selectExpiring = statement(
  'select_expiring_letters',
  `
  with crowded as (
    select l.shard, l.dag_id from dead_letter l where l.state = 0 group by l.shard, l.dag_id),
  limits as materialized (
    select c.shard, c.dag_id, case when strpos(v.spec::text, '\\u0000') > 0 then $2::integer
             else coalesce((v.spec->>'maxDeadLetters')::integer, $2::integer) end as most
      from crowded c
      join dag d on d.shard = c.shard and d.dag_id = c.dag_id
      join dag_version v on v.shard = d.shard and v.dag_id = d.dag_id and v.version_no = d.version_no)
  select o.shard, o.run_id, o.task_no, o.attempt_no
    from (select l.shard, l.dag_id, l.run_id, l.task_no, l.attempt_no, l.at,
                 row_number() over (partition by l.shard, l.dag_id order by l.at desc, l.run_id desc, l.task_no desc) as place
            from dead_letter l where l.state = 0) o
    join limits m on m.shard = o.shard and m.dag_id = o.dag_id
   where o.at < $1::bigint or o.place > m.most
   order by o.at limit $3::integer`,
);

const deleteClosed = statement(
  'delete_closed_letters',
  `
  with gone as (
    delete from dead_letter where ctid = any (array (
      select ctid from dead_letter where state <> 0 and closed_at < $1::bigint limit 1000))
    returning 1)
  select count(*) from gone`,
);

export async function expiringDeadLetters(
  database: Database,
  { olderThan, mostOfDag, limit }: DeadLetterExpiry,
): Promise<(DeadLetterRef & { readonly shard: ShardNo })[]> {
  const { rows } = await database.one(call(selectExpiring, olderThan, mostOfDag, limit));
  return rows.map(([shard, runId, taskNo, attemptNo]) => ({
    shard: Number(shard) as ShardNo,
    runId: Number(runId) as RunId,
    taskNo: Number(taskNo) as TaskNo,
    attemptNo: Number(attemptNo) as AttemptNo,
  }));
}

/** A thousand at a time; answers whether there may be more. */
export async function dropClosedDeadLetters(database: Database, closedBefore: Instant): Promise<boolean> {
  const { rows } = await database.one(call(deleteClosed, closedBefore));
  return Number(rows[0]?.[0]) === 1_000;
}
