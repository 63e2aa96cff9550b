-- What failures of one cause have in common (48 bits, shown as twelve hex digits): of the task's last failure, and of each attempt.
-- quick_*: attempts in a row that failed at once, and when the first of them did; null when the last one did not.
alter table task add column fingerprint bigint, add column quick_count smallint, add column quick_since bigint;
alter table attempt add column fingerprint bigint;

-- Breakers that hold something back, or let it go; one that is closed has no row. Fingerprint 0 is the dag's own.
create table breaker (
  shard smallint not null,
  dag_id bigint not null,
  fingerprint bigint not null,
  tenant_id integer not null,
  state smallint not null,
  pause_ms bigint not null,
  opened_at bigint not null,
  since bigint not null,
  error text,
  primary key (shard, dag_id, fingerprint)
) with (fillfactor = 50);
create index breaker_tenant on breaker (tenant_id, dag_id, fingerprint);

-- What failed for good and waits for a person. Names what lists show, so that they need no look into partitions. Written and
-- closed in commits of the shard's owner; those that are closed are removed by upkeep.
create table dead_letter (
  run_id bigint not null,
  dag_id bigint not null,
  fingerprint bigint not null,
  at bigint not null,
  uid uuid not null,
  task_no integer not null,
  attempt_no integer not null,
  tenant_id integer not null,
  version_no integer not null,
  shard smallint not null,
  reason smallint not null,
  outcome smallint not null,
  state smallint not null default 0,
  closed_at bigint,
  new_uid uuid,
  task_name text not null,
  code text,
  error text,
  closed_by text,
  primary key (shard, run_id, task_no, attempt_no)
) with (fillfactor = 80);
-- Lists, newest first, and groups.
create index dead_letter_open on dead_letter (tenant_id, at) where state = 0;
create index dead_letter_cause on dead_letter (tenant_id, fingerprint, at) where state = 0;
-- By the id that people have.
create index dead_letter_uid on dead_letter (shard, uid);
-- How many a dag has, oldest first; and whether a run is needed.
create index dead_letter_dag on dead_letter (shard, dag_id, at) where state = 0;
create index dead_letter_run on dead_letter (run_id) where state = 0;
create index dead_letter_closed on dead_letter (closed_at) where state <> 0;

-- A run with an open letter is kept: whoever replays it needs its params, its tasks and its attempts. Leans on the keys
-- (shard, run_id) of live_run, (run_id) of idempotency_key and of dead_letter.
create or replace function run_day_is_needed(p_from bigint, p_to bigint) returns boolean language sql volatile as $$
  select exists (select from shard s, lateral (
             select 1 from live_run l where l.shard = s.shard and l.run_id >= p_from and l.run_id < p_to limit 1) l)
      or exists (select from idempotency_key where run_id >= p_from and run_id < p_to)
      or exists (select from dead_letter where run_id >= p_from and run_id < p_to and state = 0)
$$;
