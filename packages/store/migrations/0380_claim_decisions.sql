-- Why tasks went to their workers: what the matcher knew at a claim. For people; nothing is decided by it. Not of all claims, and for a day.
create table if not exists claim_decision (
  shard smallint not null,
  run_id bigint not null,
  task_no integer not null,
  fence bigint not null,
  attempt_no integer not null,
  worker_id uuid not null,
  decided_at timestamptz not null default clock_timestamp(),
  decision json not null,
  primary key (shard, run_id, task_no, fence)
);

-- Rows come in the order of time: this index is a few pages, and old rows are found by it.
create index if not exists claim_decision_at on claim_decision using brin (decided_at) with (autosummarize = on);
