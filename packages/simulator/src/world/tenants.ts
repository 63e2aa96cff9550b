/** The tenants of a history: how many they are, what they weigh, and which of them are suspended at the moment. */
import type { TenantId } from '@signalbox/engine';
import type { TenantRule } from '@signalbox/store';
import type { Chance } from './chance.ts';

const WEIGHTS = [1, 1, 2, 5] as const;
const MOST_TENANTS = 3;

export class SimTenants {
  readonly ids: readonly TenantId[];
  readonly #weights = new Map<TenantId, number>();
  readonly #suspended = new Set<TenantId>();

  constructor(chance: Chance) {
    const count = chance.happens(0.5) ? 1 : chance.int(2, MOST_TENANTS);
    this.ids = Array.from({ length: count }, (_, i) => (i + 1) as TenantId);
    for (const id of this.ids) this.#weights.set(id, chance.pick(WEIGHTS));
  }

  /** As a node reads them from the database. */
  rules(): TenantRule[] {
    return this.ids.map((tenantId) => ({
      tenantId,
      weight: this.#weights.get(tenantId) ?? 1,
      isSuspended: this.#suspended.has(tenantId),
    }));
  }

  isSuspended(tenantId: TenantId): boolean {
    return this.#suspended.has(tenantId);
  }

  suspend(tenantId: TenantId, isSuspended: boolean): void {
    if (isSuspended) this.#suspended.add(tenantId);
    else this.#suspended.delete(tenantId);
  }

  weigh(tenantId: TenantId, weight: number): void {
    this.#weights.set(tenantId, weight);
  }
}
