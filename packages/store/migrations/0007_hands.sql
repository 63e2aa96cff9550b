-- What people do to runs and tasks. `pauses` has, by number of the task (-1: the whole run), who paused it and since when; `retries`
-- counts how often the policy of its dag has opened a run again.
alter table run add column if not exists pauses jsonb, add column if not exists retries smallint;
-- What attempts of a cancelled run were given to stop, where that was not the usual.
alter table run add column if not exists grace_ms integer;
-- A task that was marked has a row without an attempt: its outcome is null. The last one to have marked it.
alter table task add column if not exists marked_at bigint, add column if not exists marked_by text;
