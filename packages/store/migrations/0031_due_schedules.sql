-- When somebody must look at a schedule again. Servers hold only those in memory that are due soon, and find the others here. 0: it
-- is in memory at all times; null: no window is left to wait for, or it is paused. Never later than the next window.
alter table dag_schedule add column if not exists due_at bigint default 0;
-- Its windows depend on the data of a time zone.
alter table dag_schedule add column if not exists zoned boolean not null default true;
-- The revision that `due_at` belongs to: a server of the version before edits a schedule without it.
alter table dag_schedule add column if not exists due_revision integer not null default 0;

-- `due_at` changes when a schedule leaves memory, not with each window: one that fires often stays, and its row with it.
create index if not exists dag_schedule_due on dag_schedule (shard, due_at, dag_id, schedule_no) where due_at is not null;
create index if not exists dag_schedule_zoned on dag_schedule (shard, dag_id, schedule_no) where zoned;
create index if not exists schedule_more_definition on schedule_more (shard, dag_id) where origin = 0;

create or replace function look_at_schedule() returns trigger language plpgsql as $$
begin
  new.due_at := 0;
  return new;
end $$;

create or replace trigger schedule_edited_without_due before update on dag_schedule for each row
  when (new.revision <> old.revision and new.due_revision = old.due_revision) execute function look_at_schedule();

-- The version of the zone data by which the due times of a shard were stored.
create table if not exists schedule_zone (
  shard smallint primary key,
  version text not null
);
