-- What attempts used: processor time and the most memory at a time. A row for each attempt that was measured, so that those that were not
-- (short ones, calls of other dags) cost nothing.
create table if not exists attempt_usage (
  run_id bigint not null,
  fence bigint not null,
  cpu_ms bigint,
  peak_bytes bigint,
  task_no integer not null,
  shard smallint not null,
  primary key (shard, run_id, task_no, fence)
) partition by range (run_id);
create table if not exists attempt_usage_default partition of attempt_usage default;

-- The tables that are cut at run ids, and dropped together.
create or replace function run_tables() returns text[] language sql immutable as $$
  select array['run', 'task', 'attempt', 'payload', 'map_expansion', 'attempt_usage']
$$;

-- Days that are there already get their partition of it.
do $$
declare
  v_leaf record;
begin
  for v_leaf in
    select substring(c.relname from '_d(\d+)$') as day, pg_get_expr(c.relpartbound, c.oid) as bound
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'run'::regclass and c.relname ~ '_d\d+$'
  loop
    execute format('create table if not exists %I partition of attempt_usage %s', 'attempt_usage_d' || v_leaf.day, v_leaf.bound);
  end loop;
end $$;
