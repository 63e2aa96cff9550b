/** What must have become of the tasks that a task needs, by their Airflow 3 names. */
export const TRIGGER_RULES = [
  'all_success',
  'all_failed',
  'all_done',
  'all_done_min_one_success',
  'all_done_setup_success',
  'one_success',
  'one_failed',
  'one_done',
  'none_failed',
  'none_failed_min_one_success',
  'none_skipped',
  'all_skipped',
  'always',
] as const;
export type TriggerRule = (typeof TRIGGER_RULES)[number];
