-- A browser's session, and the link that opens one, end with the token that made them. The hash of that token.
alter table api_token add column opened_by bytea;
alter table login_code add column opened_by bytea;
create index api_token_opened_by on api_token (opened_by) where opened_by is not null;

-- Sessions and links from before: their maker is known by name.
update api_token s set opened_by = p.sha256
  from api_token p
 where s.name like 'browser-%' and s.revoked_at is null and s.created_by = 'token:' || p.name
   and p.tenant_id = s.tenant_id and p.created_at <= s.created_at
   and (p.revoked_at is null or p.revoked_at > s.created_at);
update login_code l set opened_by = p.sha256
  from api_token p
 where l.actor = 'token:' || p.name and p.tenant_id = l.tenant_id and p.revoked_at is null;
update api_token s set revoked_at = clock_timestamp()
  from api_token p
 where s.opened_by = p.sha256 and s.revoked_at is null and p.revoked_at is not null;

-- Who did what, when, from where, and with what outcome (I71). Rows are only ever added; upkeep removes those that are too old.
create table audit_event (
  audit_id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  -- Null when nobody knows whose credential it was.
  tenant_id integer references tenant,
  actor text not null,
  action text not null,
  target text not null,
  -- The address that it came from; empty for the server itself.
  origin text not null,
  -- "done", or the code of the refusal.
  outcome text not null,
  details json
);
create index audit_event_tenant on audit_event (tenant_id, audit_id);

create function keep_audit_events() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and old.at < clock_timestamp() - interval '1 day' then return old; end if;
  raise exception 'audit events are only ever added' using errcode = 'insufficient_privilege';
end $$;
create trigger audit_event_kept before update or delete on audit_event
  for each row execute function keep_audit_events();
create trigger audit_event_not_truncated before truncate on audit_event
  for each statement execute function keep_audit_events();
