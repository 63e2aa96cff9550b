-- Slots of queues that are kept for a dag, before the other dags of its tenant, or for a tenant (no dag_id), before all others.
-- They are kept between two instants (from_at, until_at), or each day (days: 1 is Monday; null: all) between two wall times of a zone.
-- limit_name: the limit that the others are under while they are kept. by_tenant_id: whose credential reserved it.
create table if not exists reservation (
  reservation_id bigint generated always as identity primary key,
  tenant_id integer not null,
  dag_id integer,
  dag text,
  queues text not null,
  slots integer not null,
  limit_name text not null,
  from_at timestamptz,
  until_at timestamptz,
  starts time,
  ends time,
  zone text,
  days smallint[],
  reason text,
  reserved_at timestamptz not null default clock_timestamp(),
  reserved_by text not null,
  by_tenant_id integer not null,
  check ((zone is null) = (from_at is not null and until_at is not null)),
  check ((zone is null) = (starts is null and ends is null))
);
