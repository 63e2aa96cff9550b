-- What attempts took, as sums: the commit that ends an attempt adds to them, while there is a rate card. Money is made of them when they are
-- read, by the rate card of the day, so that the sums stay exact whatever the prices are.
create table if not exists usage_rollup (
  shard smallint not null,
  dag_id bigint not null,
  -- Days since 1970, UTC.
  day integer not null,
  version_no integer not null,
  -- Of the version. Below zero: items of the mapped group with the number -1 - task_no.
  task_no integer not null,
  priority smallint not null,
  tenant_id integer not null,
  -- That ended on the day; what they took is in the days in which they ran.
  attempts bigint not null,
  slot_ms bigint not null,
  -- Measured; of attempts that were not measured there is none.
  cpu_ms bigint not null,
  memory_mib_ms bigint not null,
  primary key (shard, dag_id, day, version_no, task_no, priority)
) with (fillfactor = 50);

-- Of a dag that is gone the sums stay, and belong to their tenant.
create index if not exists usage_rollup_tenant on usage_rollup (tenant_id, day);

-- How many slots a tenant had at a time, on average over an hour: slot_ms / 3,600,000.
create table if not exists usage_hour (
  shard smallint not null,
  tenant_id integer not null,
  -- Hours since 1970.
  hour integer not null,
  slot_ms bigint not null,
  primary key (shard, tenant_id, hour)
) with (fillfactor = 50);

create index if not exists usage_hour_tenant on usage_hour (tenant_id, hour);

-- The prices from a day (UTC) on, until the day of the next one.
create table if not exists rate_card (
  from_day integer primary key,
  card json not null,
  set_at timestamptz not null default clock_timestamp(),
  set_by text not null
);

-- For each month (UTC). An empty dag: the whole tenant.
create table if not exists budget (
  tenant_id integer not null,
  dag text not null,
  -- In millionths of the currency.
  amount bigint not null check (amount > 0),
  set_at timestamptz not null default clock_timestamp(),
  set_by text not null,
  primary key (tenant_id, dag)
);

-- When each budget was crossed last: it tells so once in a month, and again when it was raised and crossed again.
create table if not exists budget_crossing (
  shard smallint not null,
  tenant_id integer not null,
  dag text not null,
  -- Months since year 0.
  month integer not null,
  amount bigint not null,
  spent bigint not null,
  crossed_at bigint not null,
  primary key (shard, tenant_id, dag)
);
