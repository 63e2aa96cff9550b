-- Ids of runs that callers chose. A row says which dag an id belongs to, so that an id is used once in a tenant, and where its
-- run is: unlike an id that a server made, it does not carry its shard. Written by the edge before the run is submitted.
create table if not exists own_run_id (
  tenant_id integer not null references tenant,
  uid uuid not null,
  shard smallint not null,
  dag_id bigint not null,
  -- How many requests have used it. With one, that request may take it back when nothing came of it.
  uses integer not null default 1,
  -- When it is looked at whether its run still exists.
  check_at timestamptz not null default clock_timestamp() + interval '1 day',
  primary key (tenant_id, uid)
);
create index if not exists own_run_id_check on own_run_id (check_at);
