-- Attempts that started under a limit of starts per time, by spans of it, while they count.
create table if not exists rate_start (
  shard smallint not null,
  limit_name text not null,
  from_at bigint not null,
  until_at bigint not null,
  starts integer not null,
  primary key (shard, limit_name, from_at)
);
