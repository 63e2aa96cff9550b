-- Which checkpoint a task has: "<fence>.<number>" of the attempt that saved it. The value itself is among the payloads of the run,
-- under -2 - task_no, and goes with them.
alter table task add column checkpoint text;
