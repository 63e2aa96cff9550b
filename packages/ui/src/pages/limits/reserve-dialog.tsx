/** Keeps slots of a queue for a DAG, or for a tenant, each day at certain times or once. */
import type { ReservationView } from '@signalbox/protocol';
import { useState } from 'react';
import { post } from '../../api/client.ts';
import { useRights } from '../../api/session.tsx';
import { ChoiceField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { plural } from '../../parts/format.ts';

const KINDS = { dag: 'a DAG', tenant: 'a tenant' } as const;
/** To keep slots from other tenants is for those who run the installation. */
const OWN_KINDS = { dag: 'a DAG' } as const;
type Kind = keyof typeof KINDS;
const DAILY = /^\d\d:\d\d$/;

export function ReserveDialog({ onClose }: { readonly onClose: () => void }) {
  const { mayRunInstallation } = useRights();
  const [kind, setKind] = useState<Kind>('dag');
  const [name, setName] = useState('');
  const [slots, setSlots] = useState('5');
  const [queues, setQueues] = useState('default');
  const [from, setFrom] = useState('22:00');
  const [until, setUntil] = useState('04:00');
  const [timezone, setTimezone] = useState(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [reason, setReason] = useState('');
  const isCount = /^[1-9]\d{0,6}$/.test(slots);
  const isDaily = DAILY.test(from);
  const body = {
    [kind]: name,
    slots: Number(slots),
    queues: queues.split(',').map((queue) => queue.trim()),
    ...{ from, until },
    ...(isDaily && timezone !== '' ? { timezone } : {}),
    ...(reason === '' ? {} : { reason }),
  };
  return (
    <FormDialog
      title="Reserve slots"
      verb="Reserve"
      isReady={isCount && name !== '' && queues !== '' && from !== '' && until !== ''}
      onClose={onClose}
      change={{
        run: () => post<ReservationView>('/v1/reservations', body),
        done: `${plural(Number(slots), 'slot')} for ${name} ${slots === '1' ? 'is' : 'are'} reserved.`,
        touches: ['reservations', 'blockers'],
      }}
    >
      <ChoiceField
        label="For"
        value={kind}
        choices={mayRunInstallation ? KINDS : (OWN_KINDS as typeof KINDS)}
        onChange={setKind}
        hint="Others use what is left of the slots of connected workers. Critical tasks use any. Nothing that runs is stopped."
      />
      <TextField label="Name" value={name} onChange={setName} placeholder="nightly-warehouse" />
      <TextField
        label="Slots"
        value={slots}
        onChange={setSlots}
        fault={isCount ? undefined : 'must be a whole number, 1 or more'}
      />
      <TextField
        label="Queues"
        value={queues}
        onChange={setQueues}
        hint="If workers serve several queues, name all of them, separated by commas."
      />
      <TextField
        label="From"
        value={from}
        onChange={setFrom}
        hint="A time of day such as 22:00, or an instant such as 2027-01-31T22:00:00Z."
      />
      <TextField label="Until" value={until} onChange={setUntil} />
      {isDaily && <TextField label="Time zone" value={timezone} onChange={setTimezone} placeholder="Europe/Berlin" />}
      <TextField label="Reason" value={reason} onChange={setReason} placeholder="the month is closed" />
    </FormDialog>
  );
}
