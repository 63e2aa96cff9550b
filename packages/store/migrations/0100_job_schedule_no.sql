-- The schedule of a recurring job goes when the job is cancelled; its number is what tells which runs were the job's.
alter table job add column if not exists schedule_no integer;
