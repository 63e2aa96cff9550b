-- Live runs that have a key, where a dag limits its runs by key. is_active: the run has the key; otherwise it waits for it.
create table if not exists run_key (
  shard smallint not null,
  dag_id bigint not null,
  run_key text not null,
  run_id bigint not null,
  uid uuid not null,
  is_active boolean not null,
  primary key (shard, dag_id, run_key, run_id)
);
