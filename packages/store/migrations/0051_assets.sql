-- When each asset was produced last, by the shard that did it. An asset that dags of several shards produce has several rows.
create table if not exists asset (
  shard smallint not null,
  tenant_id integer not null,
  name text not null,
  no bigint not null,
  run uuid,
  dag text,
  task text,
  actor text not null,
  at bigint not null,
  primary key (shard, tenant_id, name)
);
create index if not exists asset_of_tenant on asset (tenant_id, name);

-- Up to which number all dags that wait for an asset were told: the outbox of a shard is what lies between the two.
create table if not exists asset_told (
  shard smallint not null,
  tenant_id integer not null,
  name text not null,
  no bigint not null,
  primary key (shard, tenant_id, name)
);

-- What an asset trigger of a dag has taken, and which of its assets are fresh.
create table if not exists asset_input (
  shard smallint not null,
  dag_id bigint not null,
  trigger_name text not null,
  inputs json not null,
  primary key (shard, dag_id, trigger_name)
);
