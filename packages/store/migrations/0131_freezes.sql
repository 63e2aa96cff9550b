-- What starts nothing until it is thawed: the cluster, a tenant, a queue or dag of a tenant, a worker (by its id).
-- by_tenant_id: whose credential froze it.
create table if not exists frozen_target (
  tenant_id integer not null,
  kind text not null check (kind in ('cluster', 'tenant', 'queue', 'dag', 'worker')),
  name text not null,
  reason text,
  frozen_at timestamptz not null default clock_timestamp(),
  by_tenant_id integer not null,
  frozen_by text not null,
  primary key (tenant_id, kind, name)
);
