/** Tokens and the sessions of browsers: made, shown, revoked. */
import type { CreatedToken, LoginLink, TokenRevoked, TokenView } from '@signalbox/protocol';
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ConfirmButton } from '../../actions/change.tsx';
import { post, seg } from '../../api/client.ts';
import { tenantPagesQuery, tokensQuery } from '../../api/queries.ts';
import { useRights } from '../../api/session.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ChoiceField } from '../../parts/field.tsx';
import { actorName } from '../../parts/format.ts';
import { ToCopy } from '../../parts/json.tsx';
import { Ago } from '../../parts/now.tsx';
import { Card, Loaded } from '../../parts/page.tsx';
import { actionsOf, type Column, Table } from '../../parts/table.tsx';
import { Explained } from '../../parts/toasts.tsx';

const isLive = ({ revokedAt, expiresAt }: TokenView): boolean =>
  revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > Date.now());

export function Tokens() {
  const tokens = useQuery(tokensQuery());
  const [open, setOpen] = useState<'token' | 'link' | null>(null);
  return (
    <Card
      title="Tokens and sessions"
      side={
        <div className="row">
          <button type="button" className="button small" onClick={() => setOpen('link')}>
            Login link …
          </button>
          <button type="button" className="button small" onClick={() => setOpen('token')}>
            New token …
          </button>
        </div>
      }
      flush
    >
      <Loaded query={tokens}>
        {({ items }) => <Table isStacked rows={items.filter(isLive)} keyOf={({ name }) => name} columns={COLUMNS} />}
      </Loaded>
      {open === 'token' && <NewToken onClose={() => setOpen(null)} />}
      {open === 'link' && <NewLink onClose={() => setOpen(null)} />}
    </Card>
  );
}

const COLUMNS: readonly Column<TokenView>[] = [
  {
    head: 'Name',
    cell: ({ name }) => (
      <>
        <b>{name}</b> {name.startsWith('browser-') && <span className="chip">session</span>}
      </>
    ),
  },
  { head: 'Role', label: 'Role', cell: ({ role }) => role },
  {
    head: 'Created',
    look: 'soft breaks',
    label: 'Created',
    cell: ({ createdAt, createdBy }) => (
      <>
        <Ago at={createdAt} /> {createdBy !== '' && `by ${actorName(createdBy)}`}
      </>
    ),
  },
  {
    head: 'Ends',
    look: 'soft',
    label: 'Ends',
    cell: ({ expiresAt }) => (expiresAt === null ? 'never' : <Ago at={expiresAt} />),
  },
  actionsOf(({ name }) => (
    <ConfirmButton
      button="Revoke …"
      label={`Revoke ${name}`}
      needs="admin"
      title={`Revoke ${name}`}
      verb="Revoke"
      change={{ run: () => post<TokenRevoked>(`/v1/tokens/${seg(name)}/revoke`), touches: 'everything' }}
    >
      <p>Whoever uses it is refused within 5 seconds, sessions that it opened included. It cannot be undone.</p>
    </ConfirmButton>
  )),
];

function NewToken({ onClose }: { readonly onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [role, setRole] = useState('operator');
  const [expiresIn, setExpiresIn] = useState('90d');
  const [tenant, setTenant] = useState('');
  const { mayRunInstallation } = useRights();
  const tenants = useInfiniteQuery({ ...tenantPagesQuery(false), enabled: mayRunInstallation });
  const others = (tenants.data?.pages.flatMap(({ items }) => items) ?? []).map((one) => one.name);
  const create = useMutation({
    mutationFn: () =>
      post<CreatedToken>('/v1/tokens', {
        name,
        role,
        ...(expiresIn === '' ? {} : { expiresIn }),
        ...(tenant === '' ? {} : { tenant }),
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['tokens'] }),
  });
  if (create.data !== undefined) {
    return (
      <Dialog title={`Token ${create.data.name}`} onClose={onClose}>
        <p>Copy it now: it is not shown again.</p>
        <ToCopy text={create.data.token} />
      </Dialog>
    );
  }
  return (
    <Dialog
      title="New token"
      onClose={onClose}
      foot={
        <>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="button"
            className="button primary"
            disabled={name === '' || create.isPending}
            onClick={() => create.mutate()}
          >
            Create token
          </button>
        </>
      }
    >
      <label className="form">
        <span>Name</span>
        <input className="field" value={name} onChange={(event) => setName(event.target.value)} />
      </label>
      <label className="form">
        <span>Role</span>
        <select className="field" value={role} onChange={(event) => setRole(event.target.value)}>
          <option value="viewer">viewer: reads</option>
          <option value="operator">operator: runs and changes, but no tokens</option>
          <option value="worker">worker: runs tasks</option>
          <option value="admin">admin: everything</option>
        </select>
      </label>
      <label className="form">
        <span>Valid for</span>
        <input className="field" value={expiresIn} onChange={(event) => setExpiresIn(event.target.value)} />
        <small>Such as 12h or 90d. Empty: for ever.</small>
      </label>
      {others.length > 1 && (
        <ChoiceField
          label="Tenant"
          value={tenant}
          choices={{ '': 'this one', ...Object.fromEntries(others.map((one) => [one, one])) }}
          onChange={setTenant}
          hint="A token of another tenant is listed there."
        />
      )}
      {create.error !== null && <Explained error={create.error} />}
    </Dialog>
  );
}

function NewLink({ onClose }: { readonly onClose: () => void }) {
  const [role, setRole] = useState('viewer');
  const create = useMutation({ mutationFn: () => post<LoginLink>('/v1/login-links', { role }) });
  return (
    <Dialog
      title="Login link"
      onClose={onClose}
      foot={
        create.data === undefined && (
          <>
            <button type="button" className="button" onClick={onClose}>
              Cancel
            </button>
            <button
              type="button"
              className="button primary"
              disabled={create.isPending}
              onClick={() => create.mutate()}
            >
              Make the link
            </button>
          </>
        )
      }
    >
      {create.data === undefined ? (
        <label className="form">
          <span>Whoever opens it may</span>
          <select className="field" value={role} onChange={(event) => setRole(event.target.value)}>
            <option value="viewer">look (viewer)</option>
            <option value="operator">run and change (operator)</option>
            <option value="admin">do everything (admin)</option>
          </select>
        </label>
      ) : (
        <>
          <p>It works once, within 15 minutes.</p>
          <ToCopy text={`${window.location.origin}${create.data.path}`} />
        </>
      )}
      {create.error !== null && <Explained error={create.error} />}
    </Dialog>
  );
}
