-- The name of the schedule: one that fires once removes itself, and its window must still say whose it was. Null in rows of
-- before; those find the name with the schedule.
alter table window_decision add column if not exists name text;
