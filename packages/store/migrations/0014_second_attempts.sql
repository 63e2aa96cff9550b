-- An attempt that began beside a running one, because that took far longer than its siblings. While it runs it is in the notes of its
-- task; the row here comes when it has ended, as for any other.
alter table attempt add column speculative boolean;
