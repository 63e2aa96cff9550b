/** The tenants of an installation, for those who run it. */
import type { TenantView } from '@signalbox/protocol';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ChangeButton, ConfirmButton, OpenButton } from '../../actions/change.tsx';
import { post, remove, seg } from '../../api/client.ts';
import { tenantPagesQuery } from '../../api/queries.ts';
import { useRights, useSession } from '../../api/session.tsx';
import { TextField } from '../../parts/field.tsx';
import { ShowFilter, useShown } from '../../parts/filters.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { actorName } from '../../parts/format.ts';
import { Ago } from '../../parts/now.tsx';
import { Card, Empty, Page } from '../../parts/page.tsx';
import { Paged } from '../../parts/paged.tsx';
import { actionsOf, type Column, Table } from '../../parts/table.tsx';
import { QuotaDialog } from './quota-dialog.tsx';
import { TenantDialog } from './tenant-dialog.tsx';

const FILTERS = [
  ['current', 'Current'],
  ['all', 'With deleted ones'],
] as const;
export const TOUCHED = ['tenants'];

export function TenantsPage() {
  const { mayRunInstallation } = useRights();
  const show = useShown('show', FILTERS);
  const pages = useInfiniteQuery({ ...tenantPagesQuery(show === 'all'), enabled: mayRunInstallation });
  return (
    <Page
      title="Tenants"
      sub="Teams that share this installation. They see nothing of each other, and share busy workers by their weights."
      actions={
        mayRunInstallation && (
          <OpenButton needs="admin" className="button primary" dialog={(onClose) => <TenantDialog onClose={onClose} />}>
            New tenant …
          </OpenButton>
        )
      }
    >
      {mayRunInstallation ? (
        <>
          <div className="toolbar">
            <ShowFilter name="show" label="Which tenants" choices={FILTERS} />
          </div>
          <Card flush>
            <Paged query={pages} more="More tenants" empty={<Empty title="No tenants." />}>
              {(tenants) => <Table isStacked rows={tenants} keyOf={({ name }) => name} columns={columns(tenants)} />}
            </Paged>
          </Card>
        </>
      ) : (
        <Card>
          <Empty title="Only admins of the tenant that runs the installation see this page." />
        </Card>
      )}
    </Page>
  );
}

const LOOKS: Readonly<Record<TenantView['state'], string>> = {
  active: 'chip ok',
  suspended: 'chip warn',
  deleted: 'chip',
};

/** Shares are those of the active tenants. */
function columns(tenants: readonly TenantView[]): readonly Column<TenantView>[] {
  const all = tenants.filter(({ state }) => state === 'active').reduce((sum, { weight }) => sum + weight, 0);
  return [
    {
      head: 'Tenant',
      cell: ({ name, critical }) => (
        <>
          <b>{name}</b>
          {critical && (
            <div className="small faint">
              may use the priority <i>critical</i>
            </div>
          )}
        </>
      ),
    },
    {
      head: 'State',
      cell: ({ state, reason }) => (
        <>
          <span className={LOOKS[state]}>{state}</span>
          {reason !== null && <div className="small soft">{reason}</div>}
        </>
      ),
    },
    {
      head: 'Weight',
      place: 'right',
      label: 'Weight',
      title: 'Its share of busy workers while all active tenants wait for them',
      cell: ({ weight, state }) => (
        <>
          {weight}
          {state === 'active' && all > 0 && <div className="small faint">{Math.round((100 * weight) / all)} %</div>}
        </>
      ),
    },
    { head: 'Default priority', label: 'Priority', cell: ({ defaultPriority }) => defaultPriority },
    {
      head: 'Created',
      place: 'hide-narrow',
      look: 'soft breaks',
      cell: ({ createdAt, createdBy }) => (
        <>
          <Ago at={createdAt} /> {createdBy !== '' && `by ${actorName(createdBy)}`}
        </>
      ),
    },
    actionsOf((tenant) => <Actions tenant={tenant} />),
  ];
}

function Actions({ tenant }: { readonly tenant: TenantView }) {
  const { name, state } = tenant;
  // The one that runs the installation can be neither suspended nor deleted.
  const isOwn = useSession()?.tenant === name;
  const path = `/v1/tenants/${seg(name)}`;
  return (
    <>
      <OpenButton
        needs="admin"
        label={`Settings of ${name}`}
        dialog={(onClose) => <TenantDialog tenant={tenant} onClose={onClose} />}
      >
        Settings …
      </OpenButton>
      <OpenButton
        needs="admin"
        label={`Quotas of ${name}`}
        dialog={(onClose) => <QuotaDialog name={name} onClose={onClose} />}
      >
        Quotas …
      </OpenButton>
      {isOwn ? null : state === 'active' ? (
        <OpenButton
          needs="admin"
          label={`Suspend ${name}`}
          dialog={(onClose) => <SuspendDialog name={name} path={path} onClose={onClose} />}
        >
          Suspend …
        </OpenButton>
      ) : (
        <ChangeButton
          needs="admin"
          label={`Resume ${name}`}
          run={() => post(`${path}/resume`)}
          done={`The tenant ${name} goes on.`}
          touches={TOUCHED}
        >
          Resume
        </ChangeButton>
      )}
      {!isOwn && state !== 'deleted' && (
        <ConfirmButton
          needs="admin"
          button="Delete …"
          label={`Delete ${name}`}
          title={`Delete the tenant ${name}`}
          verb="Delete the tenant"
          change={{ run: () => remove(path), done: `The tenant ${name} is deleted.`, touches: TOUCHED }}
        >
          <p>
            None of its tasks start, and its tokens stop working. Its data stays until its retention ends; until then it
            can be resumed. Its name stays taken.
          </p>
        </ConfirmButton>
      )}
    </>
  );
}

interface SuspendProps {
  readonly name: string;
  readonly path: string;
  readonly onClose: () => void;
}

function SuspendDialog({ name, path, onClose }: SuspendProps) {
  const [reason, setReason] = useState('');
  return (
    <FormDialog
      title={`Suspend ${name}`}
      verb="Suspend"
      onClose={onClose}
      change={{
        run: () => post(`${path}/suspend`, reason.trim() === '' ? {} : { reason: reason.trim() }),
        done: `The tenant ${name} is suspended.`,
        touches: TOUCHED,
      }}
    >
      <p>
        None of its tasks start and its changes are refused, until it is resumed. It can still read. Tasks that run
        finish; runs that its schedules create wait.
      </p>
      <TextField label="Reason" value={reason} onChange={setReason} hint="Shown to those whose requests are refused." />
    </FormDialog>
  );
}
