-- Dags that created too many tasks: nothing of them starts until somebody resumes them.
create table if not exists halted_dag (
  shard smallint not null,
  dag_id bigint not null,
  tenant_id integer not null,
  cause text not null,
  tasks bigint not null,
  most bigint not null,
  halted_at bigint not null,
  primary key (shard, dag_id)
);
