-- What conditions, branches and short circuits need of a run's params and of a task's output: JSON, kept beside the state that
-- it decides, so that a load decides as the engine did.
alter table run add column facts text;
alter table task add column facts text;
