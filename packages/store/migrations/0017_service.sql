-- When each shard was last served, so that windows that were due in a break count as missed and others do not.
-- A node notes the database's time with each beat, and the end of a break between two beats that was longer than the grace.
alter table node
  add column beat_at timestamptz not null default clock_timestamp(),
  add column break_ended_at timestamptz;
-- served_until: when the last owner let go of it, or took it. break_ended_at: windows before this are missed. A shard that was
-- never taken by a version that knows these columns has null: its first take counts as the end of a break.
alter table shard
  add column served_until timestamptz,
  add column break_ended_at timestamptz;

-- How far the clock of the node's machine is ahead of the database's, and why the node owns no shards, if it must not.
alter table node
  add column clock_ahead_ms bigint,
  add column unfit text;
