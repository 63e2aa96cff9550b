-- What a failure was, in one short word (`exit:137`, `http:503`): for people and for retry policies.
alter table task add column code text;
alter table attempt add column code text;
-- What is kept of a task that asks for more than plain retries and one timeout: JSON, written whole. See notes.ts of the engine.
alter table task add column notes text;
-- The same of a run whose time is limited.
alter table run add column notes text;
