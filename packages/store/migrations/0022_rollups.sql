-- How many runs ended, by dag, hour (UTC), outcome and duration: one row per combination that occurred. The commit that ends a run adds to
-- it, and the commit that opens a run again takes away from it, so the table always says what a scan of all ended runs would. It outlives
-- the runs themselves.
create table if not exists run_rollup (
  shard smallint not null,
  dag_id bigint not null,
  -- Hours since 1970.
  hour integer not null,
  outcome smallint not null,
  -- Bucket b holds durations up to 2^(b/8) ms. Runs that were opened again are in -1: the time in which nobody worked on them says nothing.
  bucket smallint not null,
  runs bigint not null,
  primary key (shard, dag_id, hour, outcome, bucket)
) with (fillfactor = 50);

insert into run_rollup (shard, dag_id, hour, outcome, bucket, runs)
select shard, dag_id, ended_at / 3600000, outcome,
    case when reopened_at is null then ceil(8 * ln(greatest(1, ended_at - created_at)::float8) / ln(2::float8)) else -1 end, count(*)
  from run where phase = 2 and ended_at is not null and outcome is not null
 group by 1, 2, 3, 4, 5
on conflict do nothing;
