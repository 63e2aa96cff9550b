/** Creates a tenant, or changes the settings of one. */
import type { TenantView } from '@signalbox/protocol';
import { useState } from 'react';
import { post, put, seg } from '../../api/client.ts';
import { CheckField, ChoiceField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';

interface TenantDialogProps {
  /** The one to change; none to create another. */
  readonly tenant?: TenantView;
  readonly onClose: () => void;
}

const PRIORITIES = { critical: 'critical', high: 'high', normal: 'normal', low: 'low' } as const;

export function TenantDialog({ tenant, onClose }: TenantDialogProps) {
  const [name, setName] = useState(tenant?.name ?? '');
  const [weight, setWeight] = useState(String(tenant?.weight ?? 1));
  const [defaultPriority, setDefaultPriority] = useState<TenantView['defaultPriority']>(
    tenant?.defaultPriority ?? 'normal',
  );
  const [critical, setCritical] = useState(tenant?.critical ?? true);
  const isWeight = Number(weight) > 0;
  const settings = { weight: Number(weight), defaultPriority, critical };
  return (
    <FormDialog
      title={tenant === undefined ? 'New tenant' : `Settings of ${tenant.name}`}
      verb={tenant === undefined ? 'Create tenant' : 'Save'}
      isReady={name !== '' && isWeight}
      onClose={onClose}
      change={{
        run: () =>
          tenant === undefined
            ? post<TenantView>('/v1/tenants', { name, ...settings })
            : put<TenantView>(`/v1/tenants/${seg(tenant.name)}`, settings),
        done: tenant === undefined ? `The tenant ${name} is created.` : `The tenant ${name} is changed.`,
        touches: ['tenants'],
      }}
    >
      {tenant === undefined && (
        <TextField label="Name" value={name} onChange={setName} placeholder="team-shop" hint="It cannot be changed." />
      )}
      <TextField
        label="Weight"
        value={weight}
        onChange={setWeight}
        fault={isWeight ? undefined : 'must be a number above 0'}
        hint="While several tenants wait for the same workers, one with 2 gets twice as much as one with 1."
      />
      <ChoiceField
        label="Priority of DAGs that name none"
        value={defaultPriority}
        choices={PRIORITIES}
        onChange={setDefaultPriority}
      />
      <CheckField label="It may use the priority critical" checked={critical} onChange={setCritical} />
      {tenant === undefined && (
        <p className="small soft">Then create a token for its first admin: System, New token.</p>
      )}
    </FormDialog>
  );
}
