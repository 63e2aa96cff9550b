-- Code of dags, by what it is. Stored before the version that names it (docs/decisions/0009); one that no version names is
-- removed a day after it was last touched.
create table bundle (
  tenant_id integer not null references tenant,
  hash text not null check (hash ~ '^[0-9a-f]{64}$'),
  code bytea not null,
  source_map bytea,
  created_at timestamptz not null default clock_timestamp(),
  touched_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, hash)
);
-- Minified code compresses little, and is read whole.
alter table bundle alter column code set storage external;

-- Which bundle a version names: what nothing names any more can be found without reading specs.
alter table dag_version add column bundle text;
create index dag_version_bundle on dag_version (bundle) where bundle is not null;

-- A browser's session is a token with an end.
alter table api_token add column expires_at timestamptz;
alter table api_token add column created_by text not null default '';

-- What a link carries once, in place of a token.
create table login_code (
  sha256 bytea primary key check (length(sha256) = 32),
  tenant_id integer not null references tenant,
  actor text not null,
  role text not null,
  expires_at timestamptz not null
);

-- Answers to changes that the engine does not keep keys for (I11). Without an answer: under way, or cut off.
create table request_key (
  tenant_id integer not null references tenant,
  operation text not null,
  target text not null,
  key text not null,
  body_hash text not null,
  status smallint,
  answer json,
  at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, operation, target, key)
);
create index request_key_at on request_key (at);

-- Where a node takes logs, gives out bundles and answers services; empty when it does none of these.
alter table node add column data_address text not null default '';

-- Which dags an event makes runs of.
create table event_trigger (
  tenant_id integer not null,
  event text not null,
  shard smallint not null,
  dag_id bigint not null,
  primary key (tenant_id, event, shard, dag_id)
);
create unique index event_trigger_dag on event_trigger (shard, dag_id);

-- A dag that was deleted: no new runs, its runs go on, the next deploy brings it back.
alter table dag add column retired_at bigint;
-- Windows of schedules that it had are decided up to here: none of them comes again, whatever the clock does.
alter table dag add column windows_until bigint not null default 0;

-- What people did to a run that had ended, the last time. Budgets count only attempts after `budget_base` (null: all of them).
alter table run add column reopened_at bigint, add column reopened_by text;
alter table task add column budget_base integer, add column cleared_at bigint, add column cleared_by text;

-- Why the server itself has paused a schedule: deciding its windows went wrong.
alter table schedule add column fault text;
