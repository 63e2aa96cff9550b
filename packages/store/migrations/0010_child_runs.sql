-- The call that made a run: a claim of a task of another run, as JSON (see ParentRef of the engine). Null for nearly all runs.
alter table run add column parent text;
