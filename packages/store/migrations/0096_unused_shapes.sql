-- Dags of jobs that no job uses any more are removed: whether one does is asked by dag.
create index if not exists job_dag on job (shard, dag_id);
