/** A crossing of a budget is told once (I61). */
import { expect, test } from 'vitest';
import type { ShardNo } from '../../model/ids.ts';
import { scenario, TENANT } from '../../testing/scenario.ts';

const SHARD = 3 as ShardNo;
const MONTH = 2026 * 12 + 10;

function setUp() {
  const box = scenario({ shards: [SHARD] });
  const cross = (more: { readonly dag?: string; readonly month?: number; readonly amount?: number } = {}) => {
    const { dag = null, month = MONTH, amount = 50_000_000 } = more;
    const what = { shard: SHARD, tenantId: TENANT, dag, month, amount, spent: 51_000_000, currency: 'EUR' };
    expect(box.feed({ kind: 'CrossBudget', ...what })).toMatchObject({ ok: true });
  };
  const told = () => box.changes('BudgetCrossed').map(({ dag, month, amount }) => [dag, month - MONTH, amount / 1e6]);
  return { box, cross, told };
}

test('a crossing is told once, whoever says it how often, also to a new owner', () => {
  const { box, cross, told } = setUp();
  cross();
  cross();
  box.killOwner();
  cross();
  expect(told()).toEqual([['', 0, 50]]);
});

test('it is told again in the next month, and when the budget was raised', () => {
  const { cross, told } = setUp();
  cross();
  cross({ amount: 60_000_000 });
  cross({ amount: 50_000_000 });
  cross({ month: MONTH + 1 });
  // By a node whose clock is behind.
  cross({ amount: 90_000_000 });
  expect(told()).toEqual([
    ['', 0, 50],
    ['', 0, 60],
    ['', 1, 50],
  ]);
});

test('budgets of dags are apart from that of the tenant', () => {
  const { cross, told } = setUp();
  cross({ dag: 'etl' });
  cross();
  cross({ dag: 'other' });
  cross({ dag: 'etl' });
  expect(told()).toEqual([
    ['etl', 0, 50],
    ['', 0, 50],
    ['other', 0, 50],
  ]);
});
