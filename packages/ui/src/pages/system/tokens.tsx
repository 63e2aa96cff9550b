/** Tokens and the sessions of browsers: made, shown, revoked. */
import type { CreatedToken, LoginLink, TokenRevoked, TokenView } from '@signalbox/protocol';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { post, seg } from '../../api/client.ts';
import { tokensQuery } from '../../api/queries.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { actorName } from '../../parts/format.ts';
import { Ago } from '../../parts/now.tsx';
import { Card, Loaded } from '../../parts/page.tsx';
import { Explained } from '../../parts/toasts.tsx';

const isLive = ({ revokedAt, expiresAt }: TokenView): boolean =>
  revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > Date.now());

export function Tokens() {
  const tokens = useQuery(tokensQuery());
  const [open, setOpen] = useState<'token' | 'link' | null>(null);
  const [revoking, setRevoking] = useState<string | null>(null);
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
        {({ items }) => (
          <div className="scroll-x">
            <table className="list">
              <thead>
                <tr>
                  <th>Name</th>
                  <th>Role</th>
                  <th>Made</th>
                  <th>Ends</th>
                  <th>
                    <span className="visually-hidden">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {items.filter(isLive).map((token) => (
                  <tr key={token.name}>
                    <td>
                      <b>{token.name}</b> {token.name.startsWith('browser-') && <span className="chip">session</span>}
                    </td>
                    <td>{token.role}</td>
                    <td className="soft">
                      <Ago at={token.createdAt} /> {token.createdBy !== '' && `by ${actorName(token.createdBy)}`}
                    </td>
                    <td className="soft">{token.expiresAt === null ? 'never' : <Ago at={token.expiresAt} />}</td>
                    <td className="right">
                      <button type="button" className="button small danger" onClick={() => setRevoking(token.name)}>
                        Revoke …
                      </button>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Loaded>
      {open === 'token' && <NewToken onClose={() => setOpen(null)} />}
      {open === 'link' && <NewLink onClose={() => setOpen(null)} />}
      {revoking !== null && <Revoke name={revoking} onClose={() => setRevoking(null)} />}
    </Card>
  );
}

function Revoke({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => post<TokenRevoked>(`/v1/tokens/${seg(name)}/revoke`),
    onSuccess: async () => {
      onClose();
      await client.invalidateQueries();
    },
  });
  return (
    <Dialog
      title={`Revoke ${name}`}
      onClose={onClose}
      foot={
        <>
          <button type="button" className="button" onClick={onClose}>
            Keep it
          </button>
          <button
            type="button"
            className="button danger primary"
            disabled={revoke.isPending}
            onClick={() => revoke.mutate()}
          >
            Revoke
          </button>
        </>
      }
    >
      <p>Whoever uses it is refused within 5 seconds, sessions that it opened included. It cannot be undone.</p>
      {revoke.error !== null && <Explained error={revoke.error} />}
    </Dialog>
  );
}

function NewToken({ onClose }: { readonly onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [role, setRole] = useState('operator');
  const [expiresIn, setExpiresIn] = useState('90d');
  const create = useMutation({
    mutationFn: () => post<CreatedToken>('/v1/tokens', { name, role, ...(expiresIn === '' ? {} : { expiresIn }) }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['tokens'] }),
  });
  if (create.data !== undefined) {
    return (
      <Dialog title={`Token ${create.data.name}`} onClose={onClose}>
        <p>Copy it now: it is not shown again.</p>
        <pre className="block">{create.data.token}</pre>
      </Dialog>
    );
  }
  return (
    <Dialog
      title="New token"
      onClose={onClose}
      foot={
        <button
          type="button"
          className="button primary"
          disabled={name === '' || create.isPending}
          onClick={() => create.mutate()}
        >
          Create token
        </button>
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
          <button type="button" className="button primary" disabled={create.isPending} onClick={() => create.mutate()}>
            Make the link
          </button>
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
          <pre className="block">{`${window.location.origin}${create.data.path}`}</pre>
        </>
      )}
      {create.error !== null && <Explained error={create.error} />}
    </Dialog>
  );
}
