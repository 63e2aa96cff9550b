-- A dag may have several triggers, for several types of events. A row has all triggers of one dag and one type; rows of before
-- have no list: they take each event of the type.
alter table event_trigger add column if not exists triggers json;
drop index if exists event_trigger_dag;
create index if not exists event_trigger_of_dag on event_trigger (shard, dag_id);

-- Events that wait for others: of a batch a row for each, of debounced ones a row for the last. The run that is made of them
-- has its uid from the first event on. The rows go in the commit that makes the run.
create table if not exists trigger_pending (
  shard smallint not null,
  dag_id bigint not null,
  trigger_name text not null,
  group_key text not null,
  -- How many events came before it.
  event_no integer not null,
  tenant_id integer not null,
  uid uuid not null,
  debounced boolean not null,
  opened_at bigint not null,
  fires_at bigint not null,
  held_at bigint not null,
  actor text not null,
  params text,
  primary key (shard, dag_id, trigger_name, group_key, event_no)
);
