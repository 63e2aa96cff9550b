-- The files that go along with a version, such as scripts: an archive in `bundle`, found by its hash like code. Upkeep keeps it as long
-- as a version names it.
alter table dag_version add column if not exists files text;
create index if not exists dag_version_files on dag_version (files) where files is not null;
