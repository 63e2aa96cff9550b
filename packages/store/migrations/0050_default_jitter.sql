-- How late windows of schedules that name no jitter may fire. A setting of the cluster, changed by a recorded action.
alter table cluster add column if not exists default_jitter_ms integer not null default 0;
