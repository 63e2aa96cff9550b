-- What workers with a token may take: queues (null: all of its tenant) and slots (null: as many as a server allows by default).
alter table api_token add column if not exists queues text[];
alter table api_token add column if not exists slots integer check (slots > 0);
