-- Which other nodes a node gets no answer from, and whether a worker is connected to it. Null for a server of an older version, which
-- does not tell: as long as one of those is there, reach decides nothing.
alter table node add column if not exists cut_from uuid[];
alter table node add column if not exists has_workers boolean;
