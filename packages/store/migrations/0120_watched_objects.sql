-- Objects under watched prefixes that events were sent for, as they were then. Object stores list keys in the order of their bytes.
create table if not exists watched_object (
  prefix text not null,
  key text collate "C" not null,
  modified_at bigint not null,
  etag text not null,
  primary key (prefix, key)
);

-- Which server looks at a prefix, and until when no other one does. `is_looked`: it was looked at as a whole, so what is new is new.
create table if not exists object_watch (
  prefix text primary key,
  holder uuid not null,
  busy_until timestamptz not null,
  is_looked boolean not null default false
);
