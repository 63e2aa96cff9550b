/** Budgets that were crossed. What was spent is not of the engine: it is told, and remembers what it has said. */
import type { ShardNo, TenantId } from '../ids.ts';
import { c } from '../table/column.ts';
import { defineTable } from '../table/define-table.ts';
import { type ChangeOf, defineChange } from './define.ts';
import { f } from './fields.ts';

/** The last crossing of each budget. */
export const budgetCrossings = defineTable('budget_crossing', {
  key: { shard: c.shard, tenantId: c.int32<TenantId>(), dag: c.text() },
  columns: { month: c.int32(), amount: c.int64(), spent: c.shown(c.int64()), crossedAt: c.shown(c.instant) },
  load: 'heads',
});

const MILLION = 1_000_000;
const MONTHS = 12;

const budgetCrossed = defineChange('BudgetCrossed', {
  no: 300,
  since: 12,
  fields: {
    shard: f.uint<ShardNo>(),
    tenantId: f.uint<TenantId>(),
    /** Empty: the budget of the whole tenant. */
    dag: f.text(),
    /** Months since year 0. */
    month: f.uint(),
    /** In millionths of the currency, as what is spent. */
    amount: f.uint(),
    spent: f.uint(),
    currency: f.text(),
    at: f.instant,
  },
  tables: ({ shard, tenantId, dag, month, amount, spent, at }, tables) =>
    tables.put(budgetCrossings, { shard, tenantId, dag, month, amount, spent, crossedAt: at }),
  event: ({ dag, month, amount, spent, currency }) => ({
    kind: 'budget.crossed',
    details: {
      budget: dag === '' ? 'tenant' : `dag:${dag}`,
      month: shownMonth(month),
      amount: amount / MILLION,
      spent: spent / MILLION,
      currency,
    },
  }),
});

/** `2026-11`. */
const shownMonth = (month: number): string =>
  `${String(Math.floor(month / MONTHS)).padStart(4, '0')}-${String((month % MONTHS) + 1).padStart(2, '0')}`;

export interface BudgetCrossed extends ChangeOf<typeof budgetCrossed> {}
export type BudgetChange = BudgetCrossed;

export const budgetChanges = [budgetCrossed] as const;
export const budgetTables = { budgetCrossings } as const;
