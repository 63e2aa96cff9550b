/** The quotas of a tenant: how much of each is used, and a form that sets or raises one. */
import type { QuotaName, QuotaView } from '@signalbox/protocol';
import { QUOTA_MEANINGS } from '@signalbox/protocol/words';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { post, put, remove, seg } from '../../api/client.ts';
import { quotasQuery } from '../../api/queries.ts';
import { ChoiceField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { Ago } from '../../parts/now.tsx';
import { type Column, Table } from '../../parts/table.tsx';

const ACTIONS = { set: 'Set it', raise: 'Raise it for a while', remove: 'Remove it' } as const;
type Action = keyof typeof ACTIONS;
const isCount = (text: string) => text === '' || /^\d{1,10}$/.test(text);
const numberOf = (text: string) => (text === '' ? null : Number(text));
const shown = (limit: number | null) => (limit === null ? '–' : limit.toLocaleString('en'));
const COUNT_FAULT = 'must be a whole number, 0 or more';

export function QuotaDialog({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const { data } = useQuery(quotasQuery(name));
  const quotas = data?.items ?? [];
  const [quota, setQuota] = useState<QuotaName>('submits');
  const [action, setAction] = useState<Action>('set');
  const [soft, setSoft] = useState('');
  const [hard, setHard] = useState('');
  const [span, setSpan] = useState('2h');
  const [reason, setReason] = useState('');
  const path = `/v1/tenants/${seg(name)}/quotas/${seg(quota)}`;
  const limits = { soft: numberOf(soft), hard: numberOf(hard) };
  const isLimited = isCount(soft) && isCount(hard) && (soft !== '' || hard !== '');
  const isZero = action !== 'remove' && (limits.hard === 0 || limits.soft === 0);
  const run = (): Promise<unknown> => {
    if (action === 'remove') return remove(path);
    if (action === 'set') return put<QuotaView>(path, limits);
    return post<QuotaView>(`${path}/raise`, { ...limits, for: span, reason: reason.trim() });
  };
  return (
    <FormDialog
      title={`Quotas of ${name}`}
      verb={action === 'remove' ? 'Remove the quota' : action === 'set' ? 'Set the quota' : 'Raise the quota'}
      isReady={action === 'remove' || (isLimited && (action === 'set' || (reason.trim() !== '' && span !== '')))}
      onClose={onClose}
      change={{ run, done: `The quota ${quota} of ${name} is changed.`, touches: ['quotas', 'tenants', 'limits'] }}
    >
      {quotas.length === 0 ? (
        <p className="small soft">It has none: it may ask for as much as it likes.</p>
      ) : (
        <Table isStacked rows={quotas} keyOf={(one) => one.quota} columns={COLUMNS} />
      )}
      <ChoiceField label="Quota" value={quota} choices={QUOTA_MEANINGS} onChange={setQuota} />
      <ChoiceField label="What to do" value={action} choices={ACTIONS} onChange={setAction} />
      {action !== 'remove' && (
        <>
          <TextField
            label="Soft limit"
            value={soft}
            onChange={setSoft}
            fault={isCount(soft) ? undefined : COUNT_FAULT}
            hint="Above it the tenant is throttled: it has a tenth of its weight, and is told. Empty for none."
          />
          <TextField
            label="Hard limit"
            value={hard}
            onChange={setHard}
            fault={isCount(hard) ? undefined : COUNT_FAULT}
            hint="Beyond it requests are refused. Empty for none."
          />
        </>
      )}
      {isZero && <p className="small soft">A limit of 0 lets nothing through, or throttles the tenant always.</p>}
      {action === 'raise' && (
        <>
          <TextField label="For how long" value={span} onChange={setSpan} placeholder="2h" />
          <TextField label="Reason" value={reason} onChange={setReason} />
        </>
      )}
    </FormDialog>
  );
}

const LEVELS: Readonly<Record<QuotaView['level'], readonly [string, string]>> = {
  under: ['chip ok', 'within'],
  soft: ['chip warn', 'throttled'],
  hard: ['chip bad', 'used up'],
};

const COLUMNS: readonly Column<QuotaView>[] = [
  { head: 'Quota', cell: ({ quota }) => QUOTA_MEANINGS[quota] },
  { head: 'Used', place: 'right', label: 'Used', cell: ({ used }) => shown(used) },
  { head: 'Soft', place: 'right', label: 'Soft', cell: ({ soft, raise }) => shown(raise === null ? soft : raise.soft) },
  { head: 'Hard', place: 'right', label: 'Hard', cell: ({ hard, raise }) => shown(raise === null ? hard : raise.hard) },
  {
    head: 'State',
    cell: ({ level, raise }) => (
      <>
        <span className={LEVELS[level][0]}>{LEVELS[level][1]}</span>
        {raise !== null && (
          <div className="small soft">
            raised until <Ago at={raise.until} />
            {raise.reason !== null && `: ${raise.reason}`}
          </div>
        )}
      </>
    ),
  },
];
