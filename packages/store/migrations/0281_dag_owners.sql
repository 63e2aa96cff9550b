-- Owners of dags that somebody has set by hand. They go before those of definitions, and stay when a dag is deployed.
create table if not exists dag_owner (
  tenant_id integer not null,
  dag_name text not null,
  owner text not null,
  set_at timestamptz not null default clock_timestamp(),
  set_by text not null,
  primary key (tenant_id, dag_name)
);
