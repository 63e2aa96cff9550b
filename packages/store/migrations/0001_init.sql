-- Instants are milliseconds since 1970 (bigint) by the wall clock of the shard's owner. Words from fixed lists (phase,
-- outcome, priority …) are numbers: see codes.ts. Text from users is stored as text.ts encodes it.
-- Tables that the commit path updates leave over half of each page free, so that updates stay on their page (HOT). An ended
-- task's row is longer than a claimed one's: at 50 four fifths of its updates were HOT, at 42 all. No index holds a column
-- that the commit path changes.

create table cluster (
  only_row boolean primary key default true check (only_row),
  -- New after a restore (I64): tokens of the lost future are refused.
  incarnation uuid not null default gen_random_uuid(),
  token_key bytea not null check (length(token_key) = 32),
  format integer not null,
  shard_count smallint not null
);

insert into cluster (token_key, format, shard_count) values (
  sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 1, 64
);

create table tenant (
  tenant_id integer primary key,
  name text not null unique
);
insert into tenant values (1, 'default');

create table api_token (
  sha256 bytea primary key check (length(sha256) = 32),
  tenant_id integer not null references tenant,
  name text not null,
  role text not null,
  created_at timestamptz not null default clock_timestamp(),
  revoked_at timestamptz
);
create unique index api_token_name on api_token (tenant_id, name) where revoked_at is null;

create table node (
  node_id uuid primary key,
  beat bigint not null,
  peer_address text not null,
  gateway_address text not null,
  leaving boolean not null default false
) with (fillfactor = 10);

-- One row per node: the chain that may commit, and its last commit.
create table writer (
  node_id uuid primary key,
  chain_no bigint not null,
  commit_no bigint not null
) with (fillfactor = 10);

-- A tenth of each page: every commit updates these rows, and a long read keeps their older versions alive.
create table shard (
  shard smallint primary key,
  epoch bigint not null default 0,
  commit_no bigint not null default 0,
  owner uuid,
  last_run_id bigint not null default 0,
  last_dag_no integer not null default 0,
  load_count integer not null default 0,
  touching bigint
) with (fillfactor = 10);
insert into shard (shard) select generate_series(0, 63);

create table silent_worker (
  shard smallint not null,
  worker_id uuid not null,
  -- The database's clock: only its distance from now is ever used.
  since timestamptz not null default clock_timestamp(),
  primary key (shard, worker_id)
);

create table dag (
  shard smallint not null,
  dag_id bigint not null,
  tenant_id integer not null,
  name text not null,
  version_no integer not null,
  primary key (shard, dag_id)
) with (fillfactor = 80);
-- Across all shards: a name is unique within its tenant, wherever its dag lives.
create unique index dag_name on dag (tenant_id, name);

-- json, not jsonb: it keeps what was deployed to the letter, and jsonb has no room for \u0000.
create table dag_version (
  shard smallint not null,
  dag_id bigint not null,
  version_no integer not null,
  hash text not null,
  spec json not null,
  actor text not null,
  at bigint not null,
  primary key (shard, dag_id, version_no)
);

create table schedule (
  shard smallint not null,
  dag_id bigint not null,
  revision integer not null,
  decided_until bigint not null,
  paused boolean not null,
  spec json not null,
  actor text not null,
  at bigint not null,
  primary key (shard, dag_id)
) with (fillfactor = 50);

-- A wall time that a clock change removed has no instant of its own: several of them may share one, and share it with a
-- window that fires. So the wall time is part of the key; it is empty for a window that has an instant.
create table window_decision (
  fires_at bigint not null,
  dag_id bigint not null,
  until_at bigint not null,
  at bigint not null,
  run_id bigint,
  count integer not null,
  shard smallint not null,
  skipped smallint,
  wall_time text not null,
  primary key (shard, dag_id, fires_at, wall_time)
) partition by range (fires_at);

create table run (
  run_id bigint not null,
  dag_id bigint not null,
  created_at bigint not null,
  uid uuid not null,
  tenant_id integer not null,
  version_no integer not null,
  shard smallint not null,
  priority smallint not null,
  cause smallint not null,
  phase smallint not null,
  strikes smallint not null,
  admitted boolean not null,
  set_aside boolean not null,
  has_params boolean not null,
  outcome smallint,
  fires_at bigint,
  admitted_at bigint,
  closing_at bigint,
  ended_at bigint,
  struck_at bigint,
  actor text not null,
  closing_actor text,
  strike_reason text,
  primary key (shard, run_id)
) partition by range (run_id);
create index run_uid on run (shard, uid);
create index run_dag on run (shard, dag_id, run_id);

-- A task has a row from its first claim on; the row shows its newest attempt.
create table task (
  run_id bigint not null,
  fence bigint not null,
  claimed_at bigint not null,
  worker_id uuid not null,
  task_no integer not null,
  attempt_no integer not null,
  lost_count integer not null,
  shard smallint not null,
  state smallint not null,
  outcome smallint,
  return_reason smallint,
  started_at bigint,
  ended_at bigint,
  retry_at bigint,
  returned_at bigint,
  error text,
  primary key (shard, run_id, task_no)
) partition by range (run_id);

-- Attempts after which the task was to be tried again. The newest attempt is in the task's row, and here too from its end
-- until the next claim.
create table attempt (
  run_id bigint not null,
  fence bigint not null,
  claimed_at bigint not null,
  ended_at bigint not null,
  retry_at bigint not null,
  worker_id uuid not null,
  task_no integer not null,
  attempt_no integer not null,
  shard smallint not null,
  outcome smallint not null,
  started_at bigint,
  error text,
  primary key (shard, run_id, task_no, attempt_no)
) partition by range (run_id);

-- Params of a run (task_no -1) and outputs of its tasks.
create table payload (
  run_id bigint not null,
  task_no integer not null,
  shard smallint not null,
  body text not null,
  primary key (shard, run_id, task_no)
) partition by range (run_id);

-- One row per commit. It is found by its lowest shard; the others that it touched point to it from journal_member.
create table journal (
  at bigint not null,
  commit_no bigint not null,
  node_id uuid not null,
  shard smallint not null,
  format smallint not null,
  shards smallint[] not null,
  epochs bigint[] not null,
  commit_nos bigint[] not null,
  changes bytea not null,
  primary key (shard, commit_no, at)
) partition by range (at);
-- Packed already: compressing it again would only cost time.
alter table journal alter column changes set storage external;

create table journal_member (
  at bigint not null,
  commit_no bigint not null,
  lead_commit_no bigint not null,
  shard smallint not null,
  lead_shard smallint not null,
  primary key (shard, commit_no, at)
) partition by range (at);

-- A row per run that has not ended: where a load starts.
create table live_run (
  run_id bigint not null,
  dag_id bigint not null,
  shard smallint not null,
  priority smallint not null,
  admitted boolean not null,
  claimed boolean not null,
  primary key (shard, run_id)
) with (
  fillfactor = 50,
  -- Rows come and go with each run: it must be swept by count, not by share of its size.
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_limit = 2000
);

create table idempotency_key (
  shard smallint not null,
  tenant_id integer not null,
  operation text not null,
  target bigint not null,
  key text not null,
  body_hash text not null,
  run_id bigint not null,
  uid uuid not null,
  at bigint not null,
  primary key (shard, tenant_id, operation, target, key)
);
-- For retention: which keys may have expired, and which partitions of run a key still needs.
create index idempotency_key_run on idempotency_key (run_id);

create table window_decision_default partition of window_decision default;
create table run_default partition of run default with (fillfactor = 46);
create table task_default partition of task default with (fillfactor = 42);
create table attempt_default partition of attempt default;
create table payload_default partition of payload default;
create table journal_default partition of journal default;
create table journal_member_default partition of journal_member default;

-- Makes the partition of one day, unless it is there. Built aside and then attached: that takes a weaker lock on the parent
-- than `create table … partition of`, and readers go on.
create function ensure_partition(p_table text, p_day integer, p_from bigint, p_to bigint) returns boolean
language plpgsql as $$
declare
  v_leaf text := p_table || '_d' || p_day;
  v_fillfactor integer := case p_table when 'run' then 46 when 'task' then 42 else 100 end;
begin
  if to_regclass(quote_ident(v_leaf)) is not null then return false; end if;
  execute format('create table %I (like %I including all) with (fillfactor = %s)', v_leaf, p_table, v_fillfactor);
  execute format('alter table %I attach partition %I for values from (%s) to (%s)', p_table, v_leaf, p_from, p_to);
  return true;
end $$;

-- Drops the partitions of one day of runs, unless something needs them: a run that has not ended or ended too lately, or an
-- idempotency key (I62). The long look at ended_at comes before the locks: once all runs of a day have ended it can't
-- change. The others come after them, for a key may be stored until the very end.
create function drop_run_day(p_day integer, p_from bigint, p_to bigint, p_older_than bigint) returns boolean
language plpgsql as $$
declare
  v_kept boolean;
begin
  if to_regclass('run_d' || p_day) is null or run_day_is_needed(p_from, p_to) then return false; end if;
  execute format('select exists (select from %I where ended_at is null or ended_at >= %s)', 'run_d' || p_day, p_older_than)
    into v_kept;
  if v_kept then return false; end if;
  execute format('lock table %1$I, %2$I, %3$I, %4$I in access exclusive mode',
    'run_d' || p_day, 'task_d' || p_day, 'attempt_d' || p_day, 'payload_d' || p_day);
  if run_day_is_needed(p_from, p_to) then return false; end if;
  execute format('drop table %1$I, %2$I, %3$I, %4$I',
    'run_d' || p_day, 'task_d' || p_day, 'attempt_d' || p_day, 'payload_d' || p_day);
  return true;
end $$;

-- Leans on the keys (shard, run_id) of live_run and (run_id) of idempotency_key.
create function run_day_is_needed(p_from bigint, p_to bigint) returns boolean language sql volatile as $$
  select exists (select from shard s, lateral (
             select 1 from live_run l where l.shard = s.shard and l.run_id >= p_from and l.run_id < p_to limit 1) l)
      or exists (select from idempotency_key where run_id >= p_from and run_id < p_to)
$$;

-- The first statement of each commit (D2). Locks the rows of its shards in shard order and raises unless this is the next
-- commit of the node's newest chain and each shard has the owner, epoch and commit number that the batch was decided on.
-- Each statement below sees what was committed when it began, so a check after a lock sees what the lock waited for.
-- The settings hold for the rest of the transaction: groups of 50 to 100 rows on a fresh table fell into plans that read
-- the whole table, at a third of the speed.
create function commit_fence(
  p_node uuid, p_chain_no bigint, p_commit_no bigint,
  p_shards smallint[], p_epochs bigint[], p_commit_nos bigint[], p_last_run_ids bigint[], p_last_dag_nos integer[]
) returns void language plpgsql as $$
declare
  v_count integer;
begin
  perform set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true), set_config('enable_bitmapscan', 'off', true),
    set_config('plan_cache_mode', 'force_generic_plan', true), set_config('jit', 'off', true);

  update writer set commit_no = p_commit_no
   where node_id = p_node and chain_no = p_chain_no and commit_no = p_commit_no - 1;
  if not found then
    raise exception 'commit % of chain % of node % is not the next one', p_commit_no, p_chain_no, p_node
      using errcode = 'SB001';
  end if;

  perform 1 from shard where shard = any (p_shards) order by shard for update;
  update shard s
     set commit_no = e.commit_no, last_run_id = e.last_run_id, last_dag_no = e.last_dag_no, load_count = 0
    from unnest(p_shards, p_epochs, p_commit_nos, p_last_run_ids, p_last_dag_nos)
      as e (shard, epoch, commit_no, last_run_id, last_dag_no)
   where s.shard = e.shard and s.epoch = e.epoch and s.commit_no = e.commit_no - 1 and s.owner = p_node;
  get diagnostics v_count = row_count;
  if v_count <> cardinality(p_shards) then
    raise exception 'of shards % only % are still at epochs % before commits % under node %',
      p_shards, v_count, p_epochs, p_commit_nos, p_node using errcode = 'SB001';
  end if;
end $$;

-- An update or delete of a commit that does not meet every row it names is a bug: nothing of the commit is kept.
create function expect_rows(p_statement text, p_found bigint, p_expected integer) returns void
language plpgsql as $$
begin
  if p_found <> p_expected then
    raise exception '% met % rows instead of %', p_statement, p_found, p_expected using errcode = 'SB002';
  end if;
end $$;
