-- A run that somebody did not want to wait for while it was closing: its closing tasks are ended too.
alter table run add column forced_at bigint;
alter table run add column forced_by text;
