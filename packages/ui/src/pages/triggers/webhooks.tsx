/** Addresses that outside systems call. A secret is shown once, when it is made. */
import type { WebhookSecret, WebhookView } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ConfirmButton, OpenButton, Refused, useChange } from '../../actions/change.tsx';
import { post, remove, seg } from '../../api/client.ts';
import { webhooksQuery } from '../../api/queries.ts';
import { DagLink } from '../../parts/dag-link.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ChoiceField, TextField } from '../../parts/field.tsx';
import { actorName } from '../../parts/format.ts';
import { ToCopy } from '../../parts/json.tsx';
import { Ago } from '../../parts/now.tsx';
import { Card, Empty, Loaded } from '../../parts/page.tsx';
import { actionsOf, type Column, Table } from '../../parts/table.tsx';

const SCHEMES: Readonly<Record<WebhookView['scheme'], string>> = {
  standard: 'Standard Webhooks',
  github: 'GitHub',
  stripe: 'Stripe',
  token: 'secret in a header',
};

/** Of one dag, or of all. */
export function Webhooks({ dag }: { readonly dag?: string }) {
  const webhooks = useQuery(webhooksQuery());
  return (
    <Card
      title="Webhooks"
      side={
        dag !== undefined && (
          <OpenButton needs="admin" dialog={(onClose) => <NewWebhook dag={dag} onClose={onClose} />}>
            New webhook …
          </OpenButton>
        )
      }
      flush
    >
      <Loaded query={webhooks}>
        {({ items }) => {
          const shown = items.filter((one) => dag === undefined || one.dag === dag);
          return shown.length === 0 ? (
            <Empty title="No webhook.">
              <span>
                A webhook is an address that an outside system calls. Each call is an event for the triggers of its DAG.
              </span>
            </Empty>
          ) : (
            <Table isStacked rows={shown} keyOf={({ id }) => id} columns={columns(dag === undefined)} />
          );
        }}
      </Loaded>
    </Card>
  );
}

const columns = (withDag: boolean): readonly (Column<WebhookView> | false)[] => [
  withDag && { head: 'DAG', cell: ({ dag }) => <DagLink name={dag} tab="triggers" /> },
  { head: 'Address', look: 'mono webhook-path', title: addressOf, cell: ({ path }) => path },
  { head: 'Signed as', cell: ({ scheme }) => SCHEMES[scheme] },
  {
    head: 'Created',
    place: 'hide-narrow',
    look: 'soft',
    cell: ({ createdAt, createdBy }) => (
      <>
        <Ago at={createdAt} /> by {actorName(createdBy)}
      </>
    ),
  },
  actionsOf((webhook) => <Actions webhook={webhook} />),
];

function Actions({ webhook }: { readonly webhook: WebhookView }) {
  const { id, path } = webhook;
  return (
    <>
      <OpenButton
        needs="admin"
        label={`New secret for ${path}`}
        dialog={(onClose) => <Rotate webhook={webhook} onClose={onClose} />}
      >
        New secret …
      </OpenButton>
      <ConfirmButton
        needs="admin"
        button="Delete …"
        label={`Delete ${path}`}
        title="Delete the webhook"
        verb="Delete"
        change={{
          run: () => remove(`/v1/webhooks/${seg(id)}`),
          done: 'The webhook is deleted.',
          touches: ['webhooks'],
        }}
      >
        <p>Calls to it are refused at once. It cannot be undone: another webhook has another address.</p>
      </ConfirmButton>
    </>
  );
}

const addressOf = ({ path }: Pick<WebhookView, 'path'>): string => `${window.location.origin}${path}`;

function NewWebhook({ dag, onClose }: { readonly dag: string; readonly onClose: () => void }) {
  const [scheme, setScheme] = useState<WebhookView['scheme']>('standard');
  const [secret, setSecret] = useState('');
  const create = useChange(
    {
      run: () => post<WebhookSecret>('/v1/webhooks', { dag, scheme, ...(secret === '' ? {} : { secret }) }),
      touches: ['webhooks'],
    },
    true,
  );
  if (create.data !== undefined) return <Secret made={create.data} onClose={onClose} />;
  return (
    <Dialog
      title={`New webhook of ${dag}`}
      onClose={onClose}
      foot={
        <>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="button" className="button primary" disabled={create.isPending} onClick={() => create.mutate()}>
            Create webhook
          </button>
        </>
      }
    >
      <ChoiceField label="Calls are signed as" value={scheme} choices={SCHEMES} onChange={setScheme} />
      <TextField
        label="Secret"
        value={secret}
        onChange={setSecret}
        hint="Leave it empty: the server makes one. Stripe makes its own; paste that."
      />
      {create.error !== null && <Refused error={create.error} />}
    </Dialog>
  );
}

function Rotate({ webhook, onClose }: { readonly webhook: WebhookView; readonly onClose: () => void }) {
  const [keepOld, setKeepOld] = useState('24h');
  const [secret, setSecret] = useState('');
  const rotate = useChange(
    {
      run: () =>
        post<WebhookSecret>(`/v1/webhooks/${seg(webhook.id)}/rotate`, {
          ...(keepOld === '' ? {} : { keepOld }),
          ...(secret === '' ? {} : { secret }),
        }),
      touches: ['webhooks'],
    },
    true,
  );
  if (rotate.data !== undefined) return <Secret made={rotate.data} onClose={onClose} />;
  return (
    <Dialog
      title="New secret"
      onClose={onClose}
      foot={
        <>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="button" className="button primary" disabled={rotate.isPending} onClick={() => rotate.mutate()}>
            Make a new secret
          </button>
        </>
      }
    >
      <TextField label="The old one holds for" value={keepOld} onChange={setKeepOld} hint="Such as 24h. At most 7d." />
      <TextField label="Secret" value={secret} onChange={setSecret} hint="Leave it empty: the server makes one." />
      {rotate.error !== null && <Refused error={rotate.error} />}
    </Dialog>
  );
}

function Secret({ made, onClose }: { readonly made: WebhookSecret; readonly onClose: () => void }) {
  return (
    <Dialog title="Webhook" onClose={onClose}>
      <p>The outside system calls this address:</p>
      <ToCopy text={addressOf(made)} />
      {made.secret === null ? (
        <p className="soft">It signs with the secret that you gave.</p>
      ) : (
        <>
          <p>It signs with this secret. Copy it now: it is not shown again.</p>
          <ToCopy text={made.secret} />
        </>
      )}
    </Dialog>
  );
}
