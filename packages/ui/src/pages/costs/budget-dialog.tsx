import type { BudgetView } from '@signalbox/protocol';
import { useState } from 'react';
import { put, seg } from '../../api/client.ts';
import { useRights } from '../../api/session.tsx';
import { ChoiceField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';

const KINDS = { tenant: 'this tenant', dag: 'a DAG', 'tenant:': 'another tenant' } as const;
/** Those of other tenants are for those who run the installation. */
const OWN_KINDS = { tenant: 'this tenant', dag: 'a DAG' } as const;
type Kind = keyof typeof KINDS;

export function BudgetDialog({ budget, onClose }: { readonly budget?: BudgetView; readonly onClose: () => void }) {
  const { mayRunInstallation } = useRights();
  const [kind, setKind] = useState<Kind>('tenant');
  const [name, setName] = useState('');
  const [amount, setAmount] = useState(budget === undefined ? '' : String(budget.amount));
  const isAmount = /^\d{1,9}(\.\d{1,2})?$/.test(amount) && Number(amount) > 0;
  const target = budget?.target ?? { tenant: 'tenant', dag: `dag:${name}`, 'tenant:': `tenant:${name}` }[kind];
  return (
    <FormDialog
      title={budget === undefined ? 'New budget' : `Budget ${budget.target}`}
      verb={budget === undefined ? 'Set the budget' : 'Save'}
      isReady={isAmount && (budget !== undefined || kind === 'tenant' || name !== '')}
      onClose={onClose}
      change={{
        run: () => put<BudgetView>(`/v1/costs/budgets/${seg(target)}`, { amount: Number(amount) }),
        done: `The budget ${target} is ${amount} a month.`,
        touches: ['budgets'],
      }}
    >
      {budget === undefined && (
        <>
          <ChoiceField
            label="Of"
            value={kind}
            choices={mayRunInstallation ? KINDS : (OWN_KINDS as typeof KINDS)}
            onChange={setKind}
            hint="Nothing is stopped by it. When it is crossed there is an event, once in the month."
          />
          {kind !== 'tenant' && <TextField label="Name" value={name} onChange={setName} />}
        </>
      )}
      <TextField
        label="Amount a month"
        value={amount}
        onChange={setAmount}
        placeholder="500"
        fault={isAmount || amount === '' ? undefined : 'must be a number above 0, such as 500 or 99.50'}
        hint="In the currency of the prices. Months are in UTC."
      />
    </FormDialog>
  );
}
