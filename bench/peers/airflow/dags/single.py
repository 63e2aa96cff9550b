"""The smallest dag with a task: one Python function that does nothing."""

from airflow.sdk import dag, task


@dag(schedule=None, max_active_runs=1000, max_active_tasks=1000)
def single():
    @task
    def noop():
        pass

    noop()


single()
