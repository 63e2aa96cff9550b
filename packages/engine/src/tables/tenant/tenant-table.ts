/** What scheduling must know of tenants. It comes from outside with `SetTenants` and is known in memory only. */
import type { TenantId } from '../../model/ids.ts';

export interface TenantRules {
  readonly tenantId: TenantId;
  /** Its share of slots that several tenants wait for, in proportion to the weights of the others. */
  readonly weight: number;
  /** Nothing of it begins. */
  readonly isSuspended: boolean;
  /** Suspended, and its schedules create no runs. */
  readonly isDeleted?: boolean;
}

const USUAL_WEIGHT = 1;

export class TenantTable {
  private readonly byId = new Map<TenantId, TenantRules>();

  get size(): number {
    return this.byId.size;
  }

  weightOf(id: TenantId): number {
    return this.byId.get(id)?.weight ?? USUAL_WEIGHT;
  }

  isHeld(id: TenantId): boolean {
    return this.byId.get(id)?.isSuspended ?? false;
  }

  isDeleted(id: TenantId): boolean {
    return this.byId.get(id)?.isDeleted ?? false;
  }

  /** Answers whether something has changed that queues must know. */
  set(rules: TenantRules): boolean {
    const known = this.byId.get(rules.tenantId);
    this.byId.set(rules.tenantId, rules);
    return known?.weight !== rules.weight || known.isSuspended !== rules.isSuspended;
  }
}
