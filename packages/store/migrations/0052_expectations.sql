-- Events that dags expect, and by when.
create table if not exists expectation (
  shard smallint not null,
  dag_id bigint not null,
  name text not null,
  tenant_id integer not null,
  spec json not null,
  since_at bigint not null,
  due_at bigint,
  last_at bigint,
  primary key (shard, dag_id, name)
);

-- Events that did not come. A server sends each to the triggers that take it, and removes the row.
create table if not exists missed_event (
  shard smallint not null,
  dag_id bigint not null,
  name text not null,
  due_at bigint not null,
  tenant_id integer not null,
  spec json not null,
  since_at bigint not null,
  at bigint not null,
  primary key (shard, dag_id, name, due_at)
);
