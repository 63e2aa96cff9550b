-- What the maps of runs have become: a row for each expansion, found by the number of its first task. A map is a count; its tasks get
-- rows with their first claim, as all others do.
create table map_expansion (
  run_id bigint not null,
  expanded_at bigint not null,
  -- When the source of the map was to come anew: the expansion is no longer part of the run, its rows stay.
  removed_at bigint,
  first_no integer not null,
  group_no integer not null,
  -- The number of the first task of the instance that it is in; null for the run itself.
  scope integer,
  total integer not null,
  unfolded integer not null,
  shard smallint not null,
  removed_by text,
  primary key (shard, run_id, first_no)
) partition by range (run_id);
create table map_expansion_default partition of map_expansion default;

-- The tables that are cut at run ids, and dropped together.
create function run_tables() returns text[] language sql immutable as $$
  select array['run', 'task', 'attempt', 'payload', 'map_expansion']
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
    execute format('create table %I partition of map_expansion %s', 'map_expansion_d' || v_leaf.day, v_leaf.bound);
  end loop;
end $$;

-- As before, for all tables of runs.
create or replace function drop_run_day(p_day integer, p_from bigint, p_to bigint, p_older_than bigint) returns boolean
language plpgsql as $$
declare
  v_kept boolean;
  v_leaves text;
begin
  if to_regclass('run_d' || p_day) is null or run_day_is_needed(p_from, p_to) then return false; end if;
  execute format('select exists (select from %I where ended_at is null or ended_at >= %s)', 'run_d' || p_day, p_older_than)
    into v_kept;
  if v_kept then return false; end if;
  select string_agg(quote_ident(t || '_d' || p_day), ', ' order by n) into v_leaves
    from unnest(run_tables()) with ordinality as r (t, n);
  execute format('lock table %s in access exclusive mode', v_leaves);
  if run_day_is_needed(p_from, p_to) then return false; end if;
  execute format('drop table %s', v_leaves);
  return true;
end $$;
