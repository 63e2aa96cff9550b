-- A dag may have several triggers, for several types of events. A row has all triggers of one dag and one type; rows of before
-- have no list: they take each event of the type.
alter table event_trigger add column if not exists triggers json;
drop index if exists event_trigger_dag;
create index if not exists event_trigger_of_dag on event_trigger (shard, dag_id);
