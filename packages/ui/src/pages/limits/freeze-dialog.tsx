/** Freezes a DAG, a queue, a tenant or the cluster. */
import type { FreezeView } from '@signalbox/protocol';
import { useState } from 'react';
import { put, seg } from '../../api/client.ts';
import { useRights } from '../../api/session.tsx';
import { ChoiceField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';

const KINDS = { dag: 'a DAG', queue: 'a queue', tenant: 'a tenant', cluster: 'the whole cluster' } as const;
/** A tenant may freeze itself; the cluster is for those who run the installation. */
const OWN_KINDS = { dag: 'a DAG', queue: 'a queue', tenant: 'a tenant' } as const;
type Kind = keyof typeof KINDS;

export function FreezeDialog({ onClose }: { readonly onClose: () => void }) {
  const { mayRunInstallation } = useRights();
  const [kind, setKind] = useState<Kind>('dag');
  const [name, setName] = useState('');
  const [reason, setReason] = useState('');
  const target = kind === 'cluster' ? kind : `${kind}:${name}`;
  return (
    <FormDialog
      title="Freeze"
      verb="Freeze"
      isReady={kind === 'cluster' || name !== ''}
      onClose={onClose}
      change={{
        run: () => put<FreezeView>(`/v1/freezes/${seg(target)}`, reason === '' ? {} : { reason }),
        done: `${target} is frozen.`,
        touches: ['freezes', 'blockers'],
      }}
    >
      <ChoiceField
        label="What"
        value={kind}
        choices={mayRunInstallation ? KINDS : (OWN_KINDS as typeof KINDS)}
        onChange={setKind}
        hint="Running tasks finish. Others do not start until it is thawed."
      />
      {kind !== 'cluster' && <TextField label="Name" value={name} onChange={setName} placeholder="nightly-warehouse" />}
      <TextField label="Reason" value={reason} onChange={setReason} placeholder="the warehouse is being moved" />
    </FormDialog>
  );
}
