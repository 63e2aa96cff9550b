-- Quotas of tenants, at the home shard of each. level: 0 under, 1 over the soft limit, 2 the hard one is used up.
create table if not exists quota (
  shard smallint not null,
  tenant_id integer not null,
  quota text not null,
  soft bigint,
  hard bigint,
  raised_soft bigint,
  raised_hard bigint,
  raised_until bigint,
  reason text,
  level smallint not null,
  set_at bigint not null,
  set_by text not null,
  primary key (shard, tenant_id, quota)
);
-- What is counted under quotas is read over all shards, and other rates are not.
create index if not exists rate_start_of_quota on rate_start (limit_name text_pattern_ops) where limit_name like 'quota/%';
