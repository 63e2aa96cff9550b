-- Tenants are made, weighed, suspended and deleted through the API. A deleted one keeps its rows and its name.
alter table tenant add column if not exists state text not null default 'active'
  check (state in ('active', 'suspended', 'deleted'));
-- Its share of slots that several tenants wait for, in proportion to the weights of the others.
alter table tenant add column if not exists weight double precision not null default 1 check (weight > 0);
-- Of dags that are deployed without one; null: normal.
alter table tenant add column if not exists default_priority smallint check (default_priority between 0 and 3);
-- Whether it may use the priority critical.
alter table tenant add column if not exists critical boolean not null default true;
-- Why it is suspended or deleted.
alter table tenant add column if not exists reason text;
alter table tenant add column if not exists created_at timestamptz not null default clock_timestamp();
alter table tenant add column if not exists created_by text not null default '';
alter table tenant add column if not exists changed_at timestamptz not null default clock_timestamp();

-- Whom the workers of a token serve. Null: the tenant of the token alone. Empty: every tenant.
alter table api_token add column if not exists serves integer[];
