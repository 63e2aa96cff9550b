-- The newest format of the journal that a server writes. Null for a server of an older version, which does not tell.
alter table node add column if not exists journal_format smallint;

-- Runs say themselves that they wait until their dag has no active run. Those that wait now are marked by the policy of their schedule.
-- Leans on the keys (shard, run_id) of `run` and (shard, dag_id, schedule_no) of `dag_schedule`. Cause 4 is that of a backfill.
-- As text: notes may hold characters that PostgreSQL's JSON refuses.
update run r set notes = '{"waits":true' || case when coalesce(r.notes, '{}') = '{}' then '}' else ',' || substr(r.notes, 2) end
  from live_run l, dag_schedule s
 where not l.admitted and r.shard = l.shard and r.run_id = l.run_id and r.fires_at is not null and r.cause <> 4
   and s.shard = r.shard and s.dag_id = r.dag_id and s.schedule_no = coalesce(r.schedule_no, 1) and not s.delayed
   and coalesce(s.spec ->> 'ifRunning', 'allow') <> 'allow' and coalesce(r.notes, '') not like '{"waits":true%';
