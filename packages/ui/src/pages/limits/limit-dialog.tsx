/** Sets a pool or a cap, or changes how many slots one has. */

import type { LimitView } from '@signalbox/protocol';
import { useState } from 'react';
import { put, seg } from '../../api/client.ts';
import { useRights } from '../../api/session.tsx';
import { ChoiceField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { plural } from '../../parts/format.ts';

const KINDS = { pool: 'a pool', queue: 'a queue', tenant: 'a tenant', cluster: 'the whole cluster' } as const;
/** Caps of tenants and of the cluster are for those who run the installation. */
const OWN_KINDS = { pool: 'a pool', queue: 'a queue' } as const;
type Kind = keyof typeof KINDS;

export function LimitDialog({ limit, onClose }: { readonly limit?: LimitView; readonly onClose: () => void }) {
  const { mayRunInstallation } = useRights();
  const [kind, setKind] = useState<Kind>('pool');
  const [name, setName] = useState('');
  const [slots, setSlots] = useState(String(limit?.slots ?? 5));
  const [per, setPer] = useState(limit?.per ?? '');
  const isCount = /^\d{1,7}$/.test(slots);
  const of = kind === 'cluster' ? kind : `${kind}:${name}`;
  const isRate = limit === undefined ? per !== '' : limit.per !== null;
  const target = limit?.name ?? (isRate ? `rate:${of}` : of);
  return (
    <FormDialog
      title={limit === undefined ? 'New limit' : `Slots of ${limit.name}`}
      verb={limit === undefined ? 'Set the limit' : 'Save'}
      isReady={
        isCount &&
        (limit === undefined || !isRate || per !== '') &&
        (limit !== undefined || kind === 'cluster' || name !== '')
      }
      onClose={onClose}
      change={{
        run: () =>
          put<LimitView>(
            `/v1/limits/${seg(target)}`,
            isRate ? { slots: Number(slots), per } : { slots: Number(slots) },
          ),
        done: `${target} has ${plural(Number(slots), 'slot')}.`,
        touches: ['limits', 'blockers'],
      }}
    >
      {limit === undefined && (
        <>
          <ChoiceField
            label="Limits"
            value={kind}
            choices={mayRunInstallation ? KINDS : (OWN_KINDS as typeof KINDS)}
            onChange={setKind}
            hint="Tasks name the pools that they take slots of. A cap holds for everything under it."
          />
          {kind !== 'cluster' && <TextField label="Name" value={name} onChange={setName} placeholder="database" />}
        </>
      )}
      <TextField
        label="Slots"
        value={slots}
        onChange={setSlots}
        fault={isCount ? undefined : 'must be a whole number, 0 or more'}
        hint={isRate ? 'How many attempts start in the time.' : 'How many tasks run at a time. With 0, none starts.'}
      />
      {(limit === undefined || isRate) && (
        <TextField
          label="Per"
          value={per}
          onChange={setPer}
          placeholder="1m"
          hint="A time such as 1m limits how many attempts start in it. Without one, how many run at once is limited."
        />
      )}
    </FormDialog>
  );
}
