-- What tasks have added to a run: an object by the numbers of the tasks (see AddedTask of the engine). Null for nearly all runs.
alter table run add column added jsonb;
