-- Calls to be made because a run has ended: written in the commit that ends it, so that none is forgotten (I61). A run that is opened
-- again and ends again has another. Removed by upkeep a while after they are over.
create table callback (
  run_id bigint not null,
  at bigint not null,
  dag_id bigint not null,
  uid uuid not null,
  tenant_id integer not null,
  attempts integer not null default 0,
  shard smallint not null,
  outcome smallint not null,
  -- 0 waits, 1 was answered, 2 was given up.
  state smallint not null default 0,
  last_status smallint,
  next_at timestamptz not null default now(),
  url text not null,
  last_error text,
  primary key (shard, run_id, at)
) with (fillfactor = 70);
create index callback_due on callback (next_at) where state = 0;
create index callback_tenant on callback (tenant_id, at);
