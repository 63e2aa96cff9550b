/**
 * Quotas of tenants. Which quotas there are comes from outside with `SetQuotas` and is known in memory only; what is counted under
 * them is stored, each count in one shard.
 */
import type { QuotaRule } from '../../model/command/quota.ts';
import type { TenantId } from '../../model/ids.ts';
import type { QuotaName } from '../../model/quota.ts';
import { RateTable } from '../limit/rate-table.ts';

export class QuotaTable {
  /** Apart from the rates of tasks: a claim looks at those. */
  readonly counts = new RateTable();
  /** Of quotas at their home that are less used than was told: since when, by the clock that never jumps. */
  readonly lowerSince = new Map<string, number>();
  /** When quotas at their home are looked at next, by the clock that never jumps. */
  lookAt = 0;
  private rules = new Map<string, QuotaRule>();

  /** Somebody has a quota. */
  get isUsed(): boolean {
    return this.rules.size > 0;
  }

  /** All that there are from now on. */
  set(rules: readonly QuotaRule[]): void {
    this.rules = new Map(rules.map((rule) => [`${rule.quota}/${rule.tenantId}`, rule]));
  }

  rule(tenantId: TenantId, quota: QuotaName): QuotaRule | undefined {
    return this.rules.size === 0 ? undefined : this.rules.get(`${quota}/${tenantId}`);
  }
}
