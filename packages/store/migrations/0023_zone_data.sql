-- The time zone data that all nodes of the cluster decide by, whatever their own runtime has (I3). A zone is added when it is first used, by
-- the node that uses it; the first row wins. The version is raised by a recorded action, which adds the rows of the new version.
alter table cluster add column if not exists zone_version text;
create table if not exists zone_data (
  version text not null,
  -- In lower case: names are matched without regard to it.
  zone text not null,
  -- Which edition of the IANA database the row was made from.
  source text not null,
  from_ms bigint not null,
  until_ms bigint not null,
  initial_offset_ms integer not null,
  -- Pairs of instant and offset, in milliseconds.
  transitions json not null,
  primary key (version, zone)
);
-- Which edition a node's own runtime has. Null for a server of an older version, which does not tell.
alter table node add column if not exists zone_version text;
