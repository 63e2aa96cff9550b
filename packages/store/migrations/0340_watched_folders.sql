-- The last new file of each watched folder: it is listed after a restart too, and when the file itself is gone.
create table if not exists watched_folder (
  folder text primary key,
  last_file text not null,
  last_file_at bigint not null
);
