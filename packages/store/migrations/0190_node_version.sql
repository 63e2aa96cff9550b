-- The version of the product that a server runs. Null for a server of an older version, which does not tell.
alter table node add column if not exists version text;
