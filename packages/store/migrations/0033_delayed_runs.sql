-- Delayed runs are schedules of one time that are named by the run's uid. They are found by that name alone, and listed by
-- their time. The first schedule of a dag, in the other part of `dag_schedule`, is never one.
create index if not exists schedule_more_run on schedule_more (shard, name) where (spec -> 'run') is not null;
create index if not exists schedule_more_due on schedule_more (((spec -> 'at' ->> 0)::bigint), name) where (spec -> 'run') is not null;
-- The others of a dag, without its delayed runs, which may be many.
create index if not exists schedule_more_own on schedule_more (shard, dag_id, schedule_no) where (spec -> 'run') is null;

-- Jobs: what each is called, and which run or schedule of a hidden dag it is. A row is written before its run or schedule; one without
-- either is no job, and goes after a day.
create table if not exists job (
  tenant_id integer not null references tenant,
  job_id uuid not null,
  shard smallint not null,
  dag_id bigint not null,
  recurring boolean not null,
  what text not null,
  name text,
  tags text[] not null,
  owner text,
  created_at timestamptz not null default clock_timestamp(),
  created_by text not null,
  cancelled_at timestamptz,
  check_at timestamptz not null default clock_timestamp() + interval '1 day',
  primary key (tenant_id, job_id)
);
create index if not exists job_tags on job using gin (tags);
create index if not exists job_check on job (check_at);
