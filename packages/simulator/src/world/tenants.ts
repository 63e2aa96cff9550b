/** The tenants of a history: how many they are, what they weigh, and which of them are suspended at the moment. */
import type { Frozen, KeptRule, TenantId } from '@signalbox/engine';
import type { TenantRule } from '@signalbox/store';
import type { Chance } from './chance.ts';

const WEIGHTS = [1, 1, 2, 5] as const;
const MOST_TENANTS = 3;

export class SimTenants {
  readonly ids: readonly TenantId[];
  readonly #weights = new Map<TenantId, number>();
  readonly #suspended = new Set<TenantId>();
  readonly #deleted = new Set<TenantId>();
  readonly #frozen = new Map<string, Frozen>();
  readonly #kept = new Set<KeptRule>();

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
      isDeleted: this.#deleted.has(tenantId),
    }));
  }

  isSuspended(tenantId: TenantId): boolean {
    return this.#suspended.has(tenantId);
  }

  isDeleted(tenantId: TenantId): boolean {
    return this.#deleted.has(tenantId);
  }

  /** One that is deleted is suspended, too. */
  set(tenantId: TenantId, { isSuspended, isDeleted }: { isSuspended: boolean; isDeleted: boolean }): void {
    for (const [set, is] of [[this.#suspended, isSuspended] as const, [this.#deleted, isDeleted] as const]) {
      if (is) set.add(tenantId);
      else set.delete(tenantId);
    }
  }

  /** As a node reads it from the database. */
  frozen(): Frozen[] {
    return [...this.#frozen.values()];
  }

  isFrozen(frozen: Frozen): boolean {
    return this.#frozen.has(JSON.stringify(frozen));
  }

  freeze(frozen: Frozen, isFrozen: boolean): void {
    if (isFrozen) this.#frozen.set(JSON.stringify(frozen), frozen);
    else this.#frozen.delete(JSON.stringify(frozen));
  }

  /** Slots that are kept, as a node reads it from the database. */
  kept(): KeptRule[] {
    return [...this.#kept];
  }

  keep(rule: KeptRule, isKept: boolean): void {
    if (isKept) this.#kept.add(rule);
    else this.#kept.delete(rule);
  }

  /** Nothing of the queue begins. */
  isQueueFrozen(tenantId: TenantId, queue: string): boolean {
    return this.frozen().some(
      (one) =>
        one.kind === 'cluster' ||
        (one.tenantId === tenantId && (one.kind === 'tenant' || (one.kind === 'queue' && one.name === queue))),
    );
  }

  weigh(tenantId: TenantId, weight: number): void {
    this.#weights.set(tenantId, weight);
  }
}
