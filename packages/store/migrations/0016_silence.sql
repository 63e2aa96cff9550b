-- For how long owners of the shard have waited for the worker, up to the last takeover: handovers do not start that over.
alter table silent_worker add column served_ms bigint not null default 0;
