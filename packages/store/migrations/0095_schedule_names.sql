-- The index by name began with the dag, as the key does. While a table is fresh and nothing is known of it, the planner took one
-- for the other, and an update by key read all schedules of the dag. By name first, it serves look-ups by name alone.
create unique index if not exists schedule_more_by_name on schedule_more (name, dag_id, shard);
drop index if exists schedule_more_name;
