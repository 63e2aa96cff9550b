-- Files of watched folders that events were sent for, as they were then. The row without a path says that the folder was looked at.
create table if not exists watched_file (
  folder text not null,
  path text not null,
  modified_at bigint not null,
  size bigint not null,
  primary key (folder, path)
);
