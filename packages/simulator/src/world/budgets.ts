/** Whoever reads what was spent tells of budgets that are crossed, again and again, and not always in order. */
import type { Command, ShardNo, TenantId } from '@signalbox/engine';
import type { Chance } from './chance.ts';

const MONTH = 24_300;

export function planCrossing(chance: Chance, tenants: readonly TenantId[], shards: readonly ShardNo[]): Command {
  return {
    kind: 'CrossBudget',
    shard: chance.pick(shards),
    tenantId: chance.pick(tenants),
    dag: chance.pick([null, 'etl']),
    month: MONTH + chance.int(0, 2),
    amount: chance.int(1, 3) * 1_000_000,
    spent: chance.int(3, 9) * 1_000_000,
    currency: 'EUR',
  };
}
