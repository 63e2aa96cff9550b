-- A dag may have several schedules, each with a number that the dag never gives again. `dag_schedule` is all of them. The table
-- `schedule` is its part with the first schedule of each dag: a server of the version before reads and writes that table by its
-- own name and key, and knows nothing of the others.
alter table schedule add column if not exists schedule_no integer not null default 1;
alter table schedule add column if not exists name text not null default 'default';
alter table schedule add column if not exists origin smallint not null default 0;
-- How many of its windows have become runs, for a limit.
alter table schedule add column if not exists fired integer not null default 0;

create table if not exists dag_schedule (
  shard smallint not null,
  dag_id bigint not null,
  revision integer not null,
  decided_until bigint not null,
  paused boolean not null,
  spec json not null,
  actor text not null,
  at bigint not null,
  fault text,
  schedule_no integer not null default 1,
  name text not null default 'default',
  origin smallint not null default 0,
  fired integer not null default 0,
  unique (shard, dag_id, schedule_no)
) partition by list (schedule_no);

create table if not exists schedule_more partition of dag_schedule default with (fillfactor = 50);
-- A backstop, and how one is found by name. The table `schedule` has one row per dag.
create unique index if not exists schedule_more_name on schedule_more (shard, dag_id, name);

do $$
begin
  if not exists (select from pg_inherits where inhrelid = 'schedule'::regclass) then
    alter table dag_schedule attach partition schedule for values in (1);
  end if;
end $$;

-- The last number that was given. A dag that has or had a schedule has given the first one.
alter table dag add column if not exists last_schedule_no integer not null default 0;
update dag d set last_schedule_no = 1
 where d.last_schedule_no = 0
   and (d.windows_until > 0 or exists (select from schedule s where s.shard = d.shard and s.dag_id = d.dag_id));

-- Two schedules of a dag may fire at one instant. The number comes last: windows of a dag are listed by time.
alter table window_decision add column if not exists schedule_no integer not null default 1;
alter table window_decision drop constraint window_decision_pkey;
alter table window_decision add primary key (shard, dag_id, fires_at, wall_time, schedule_no);

-- Null for a run that is for no window, and for those of before: they are of the first schedule.
alter table run add column if not exists schedule_no integer;
