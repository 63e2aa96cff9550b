-- Limits that span shards, at the home of each. A row stays when the limit is removed.
create table if not exists slot_limit (
  shard smallint not null,
  limit_name text not null,
  tenant_id integer not null,
  slots integer,
  no bigint not null,
  since_no bigint not null,
  set_at bigint not null,
  set_by text not null,
  primary key (shard, limit_name)
);

-- What the home of a limit has given to each shard, and what that has said. What is out is given + seized - returned.
create table if not exists slot_grant (
  shard smallint not null,
  limit_name text not null,
  holder integer not null,
  given bigint not null,
  seized bigint not null,
  returned bigint not null,
  heard_no bigint not null,
  primary key (shard, limit_name, holder)
);

-- What a shard has of a limit: taken + seized - returned.
create table if not exists slot_hold (
  shard smallint not null,
  limit_name text not null,
  no bigint not null,
  is_limited boolean not null,
  taken bigint not null,
  seized bigint not null,
  returned bigint not null,
  primary key (shard, limit_name)
);
