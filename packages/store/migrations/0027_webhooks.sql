-- Addresses that outside systems call. A secret that Signalbox made follows from the cluster's key, the id and the generation,
-- and is stored nowhere; one that the outside system made is stored sealed with a key that follows from the cluster's (I67).
create table if not exists webhook (
  webhook_id uuid primary key,
  tenant_id integer not null references tenant,
  dag text not null,
  scheme text not null,
  generation integer not null default 1,
  sealed bytea,
  -- The secret of before a rotation still holds until then.
  previous_generation integer,
  previous_sealed bytea,
  previous_until timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  created_by text not null
);
create index if not exists webhook_of_tenant on webhook (tenant_id, dag);
