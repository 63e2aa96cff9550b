/**
 * Whose turn it is, of tenants that wait for slots of the same workers on several nodes. Each loan raises the tag of its tenant by one
 * over its weight; the lowest tag goes first. A tenant that asked for nothing saves nothing up.
 *
 * Loans count, not the time that a slot is used: a gateway does not know how long a task will take, and the engine that claims it
 * shares by time among the tenants of its own node.
 */
import type { TenantId } from '@signalbox/engine';

/** Tags that nobody has used for a while are forgotten once there are so many. */
const MOST_TAGS = 10_000;

export class TenantTurns {
  private readonly tags = new Map<TenantId, number>();
  private readonly weights = new Map<TenantId, number>();
  /** The tag of the last loan: nobody begins below it. */
  private now = 0;

  setWeight(tenantId: TenantId, weight: number): void {
    this.weights.set(tenantId, weight);
  }

  isBefore(a: TenantId, b: TenantId): boolean {
    return a !== b && this.tagOf(a) < this.tagOf(b);
  }

  take(tenantId: TenantId): void {
    const tag = this.tagOf(tenantId);
    this.now = Math.max(this.now, tag);
    if (this.tags.size >= MOST_TAGS) this.tags.clear();
    this.tags.set(tenantId, tag + 1 / (this.weights.get(tenantId) ?? 1));
  }

  private tagOf(tenantId: TenantId): number {
    return Math.max(this.tags.get(tenantId) ?? 0, this.now);
  }
}
