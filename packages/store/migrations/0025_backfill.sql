-- Where the data interval of a run begins: the window before its own. Null for a run on demand, and for one of an older version.
alter table run add column if not exists window_start bigint;
-- The backfill that made the run. Set right after the row is inserted: so few runs have one that the others need not carry it.
alter table run add column if not exists backfill uuid;
create index if not exists run_backfill on run (shard, backfill, run_id) where backfill is not null;
-- The newest run of a window.
create index if not exists run_window on run (shard, dag_id, fires_at, run_id) where fires_at is not null;

create table if not exists backfill (
  started_at bigint not null,
  dag_id bigint not null,
  uid uuid not null,
  tenant_id integer not null,
  window_count integer not null,
  created_count integer not null,
  skipped_count integer not null,
  shard smallint not null,
  state smallint not null,
  is_done boolean not null,
  -- The last window that was decided.
  cursor_at bigint,
  -- Since it is paused, or over.
  state_at bigint,
  spec json not null,
  actor text not null,
  state_actor text,
  reason text,
  primary key (shard, uid)
) with (fillfactor = 70);
create index if not exists backfill_dag on backfill (shard, dag_id, started_at);
