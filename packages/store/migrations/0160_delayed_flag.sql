-- Which schedules are delayed runs. The indexes of those asked the spec, so that each new row was parsed as JSON three times: a fifth of
-- what a schedule cost the database. Servers of the version before make no delayed runs.
alter table dag_schedule add column if not exists delayed boolean not null default false;
update dag_schedule set delayed = true where (spec -> 'run') is not null and not delayed;

create index if not exists schedule_more_delayed on schedule_more (shard, name) where delayed;
create index if not exists schedule_more_delayed_due on schedule_more (((spec -> 'at' ->> 0)::bigint), name) where delayed;
create index if not exists schedule_more_plain on schedule_more (shard, dag_id, schedule_no) where not delayed;
drop index if exists schedule_more_run;
drop index if exists schedule_more_due;
drop index if exists schedule_more_own;
