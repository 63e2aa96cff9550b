/** The quotas of a tenant: how much of each is used, and a form that sets or raises one. */
import type { QuotaName, QuotaView } from '@signalbox/protocol';
import { QUOTA_MEANINGS } from '@signalbox/protocol/words';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { post, put, remove, seg } from '../../api/client.ts';
import { quotasQuery } from '../../api/queries.ts';
import { ChoiceField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { count } from '../../parts/format.ts';
import { Ago } from '../../parts/now.tsx';
import { type Column, Table } from '../../parts/table.tsx';

const ACTIONS = { set: 'Set it', raise: 'Raise it for a while', remove: 'Remove it' } as const;
type Action = keyof typeof ACTIONS;
const isCount = (text: string) => text === '' || /^\d{1,10}$/.test(text);
const numberOf = (text: string) => (text === '' ? null : Number(text));
const shown = (limit: number | null) => (limit === null ? '–' : count(limit));
const COUNT_FAULT = 'must be a whole number, 0 or more';

interface Limits {
  readonly soft: string;
  readonly hard: string;
}

function limitsOf(from: { readonly soft: number | null; readonly hard: number | null } | undefined): Limits {
  const text = (limit: number | null | undefined) => (limit == null ? '' : String(limit));
  return { soft: text(from?.soft), hard: text(from?.hard) };
}

export function QuotaDialog({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const { data } = useQuery(quotasQuery(name));
  const quotas = data?.items ?? [];
  const [quota, setQuota] = useState<QuotaName>('submits');
  const [action, setAction] = useState<Action>('set');
  // Null until somebody types: then the fields show what holds.
  const [typed, setTyped] = useState<Limits | null>(null);
  const [span, setSpan] = useState('2h');
  const [reason, setReason] = useState('');
  const current = quotas.find((one) => one.quota === quota);
  const { soft, hard } = typed ?? limitsOf(action === 'raise' ? (current?.raise ?? current) : current);
  const path = `/v1/tenants/${seg(name)}/quotas/${seg(quota)}`;
  const limits = { soft: numberOf(soft), hard: numberOf(hard) };
  const isLimited = isCount(soft) && isCount(hard) && (soft !== '' || hard !== '');
  const isExplained = action === 'set' || (reason.trim() !== '' && span !== '');
  const isZero = action !== 'remove' && (limits.hard === 0 || limits.soft === 0);
  const run = (): Promise<unknown> => {
    if (action === 'remove') return remove(path);
    if (action === 'set') return put<QuotaView>(path, limits);
    return post<QuotaView>(`${path}/raise`, { ...limits, for: span, reason: reason.trim() });
  };
  return (
    <FormDialog
      title={`Quotas of ${name}`}
      wide
      verb={action === 'remove' ? 'Remove the quota' : action === 'set' ? 'Set the quota' : 'Raise the quota'}
      isReady={action === 'remove' ? current !== undefined : isLimited && isExplained}
      onClose={onClose}
      change={{ run, done: `The quota ${quota} of ${name} is changed.`, touches: ['quotas', 'tenants', 'limits'] }}
    >
      {quotas.length === 0 ? (
        <p className="small soft">It has none: it may ask for as much as it likes.</p>
      ) : (
        <Table isStacked rows={quotas} keyOf={(one) => one.quota} columns={COLUMNS} />
      )}
      <div className="form-grid">
        <ChoiceField
          label="Quota"
          value={quota}
          choices={QUOTA_MEANINGS}
          onChange={(chosen) => {
            setQuota(chosen);
            setTyped(null);
          }}
        />
        <ChoiceField
          label="What to do"
          value={action}
          choices={ACTIONS}
          onChange={(chosen) => {
            setAction(chosen);
            setTyped(null);
          }}
        />
        {action !== 'remove' && (
          <>
            <TextField
              label="Soft limit"
              value={soft}
              onChange={(text) => setTyped({ soft: text, hard })}
              fault={isCount(soft) ? undefined : COUNT_FAULT}
              hint="Above it the tenant is throttled: it has a tenth of its weight, and is told. Empty for none."
            />
            <TextField
              label="Hard limit"
              value={hard}
              onChange={(text) => setTyped({ soft, hard: text })}
              fault={isCount(hard) ? undefined : COUNT_FAULT}
              hint="Beyond it requests are refused. Empty for none."
            />
          </>
        )}
        {action === 'raise' && (
          <>
            <TextField label="For how long" value={span} onChange={setSpan} placeholder="2h" hint="Such as 2h or 3d." />
            <TextField
              label="Reason"
              value={reason}
              onChange={setReason}
              placeholder="sale of the year"
              hint="Shown beside the quota until then."
            />
          </>
        )}
      </div>
      {isZero && <p className="small soft">A limit of 0 lets nothing through, or throttles the tenant always.</p>}
      {action === 'remove' && current === undefined && <p className="small soft">This quota is not set.</p>}
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
