import type { ShardNo, TenantId } from '../ids.ts';

/** Sums of this month have reached a budget: whoever reads the sums says so, as often as it likes. */
export interface CrossBudget {
  readonly kind: 'CrossBudget';
  /** The shard that remembers it. */
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  /** Null: the budget of the whole tenant. */
  readonly dag: string | null;
  /** Months since year 0. */
  readonly month: number;
  /** In millionths of the currency. */
  readonly amount: number;
  readonly spent: number;
  readonly currency: string;
}
