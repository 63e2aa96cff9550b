-- When workers came and went, and what was done to them. Written beside the scheduling loop, and kept as long as runs are.
create table if not exists worker_event (
  event_id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  -- Of the credential of the worker.
  tenant_id integer not null,
  worker_id uuid not null,
  name text not null,
  kind text not null,
  -- The server that its stream ended at; null for what a person asked for.
  node_id uuid,
  actor text not null default '',
  details json not null default '{}'
);

create index if not exists worker_event_tenant on worker_event (tenant_id, event_id);
create index if not exists worker_event_worker on worker_event (worker_id, event_id);
create index if not exists worker_event_at on worker_event using brin (at) with (autosummarize = on);
