-- While many windows are due at once, commits leave out `decided_until` and `fired` of their schedules, which are written with the due
-- times after the burst. This is the first run of a window whose schedule is behind by that; null: none is.
alter table shard add column if not exists behind_from bigint;

-- Brings the schedules of a shard up to date, from the runs of their windows. In the transaction of each takeover, so that the next
-- owner, of whatever version, reads what was decided. Leans on the keys (shard, run_id) of the partitions of `run` and (shard, dag_id,
-- schedule_no) of `dag_schedule`: without the settings, a table that nothing is known of would be read as a whole.
-- A run with cause 1 is that of a window that was decided.
create or replace function catch_up_schedules() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
begin
  update dag_schedule s set decided_until = w.until_at, fired = s.fired + w.fired
    from (select b.dag_id, b.schedule_no, max(r.fires_at) as until_at, count(*)::integer as fired
            from run r
            join dag_schedule b on b.shard = r.shard and b.dag_id = r.dag_id and b.schedule_no = coalesce(r.schedule_no, 1)
           where r.shard = new.shard and r.run_id >= old.behind_from and r.cause = 1 and r.fires_at > b.decided_until
           group by b.dag_id, b.schedule_no) w
   where s.shard = new.shard and s.dag_id = w.dag_id and s.schedule_no = w.schedule_no;
  update shard set behind_from = null where shard = new.shard;
  return null;
end $$;

-- After the update, and of this column alone: a trigger before updates locks the row of the shard once more in every commit.
create or replace trigger shard_taken after update of epoch on shard for each row
  when (old.behind_from is not null and new.epoch <> old.epoch) execute function catch_up_schedules();
