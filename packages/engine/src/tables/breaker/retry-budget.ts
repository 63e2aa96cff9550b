/**
 * Limits the retries per second of a node, whatever fails. So a storm of retries does not take the slots of first attempts,
 * nor flood the database with claims. Retries over the limit wait in order, are not lost, and never start early (I40).
 */
import type { HeldTask } from './breaker.ts';

export class RetryBudget {
  private readonly perSecond: number;
  /** A second's worth at most. */
  private tokens: number;
  private filledAt = 0;
  private waiting: HeldTask[] = [];
  private taken = 0;
  /** When it looks again; null when nothing waits. */
  wakeAt: number | null = null;

  constructor(perSecond: number) {
    this.perSecond = perSecond;
    this.tokens = perSecond;
  }

  get waitingCount(): number {
    return this.waiting.length - this.taken;
  }

  /** One may go now, and nobody waits before it. */
  tryTake(mono: number): boolean {
    this.fill(mono);
    if (this.tokens < 1) return false;
    this.tokens -= 1;
    return true;
  }

  wait(task: HeldTask): void {
    this.waiting.push(task);
  }

  takeNext(): HeldTask | undefined {
    const next = this.waiting[this.taken];
    if (next !== undefined) this.taken += 1;
    if (this.taken === this.waiting.length) [this.waiting, this.taken] = [[], 0];
    return next;
  }

  private fill(mono: number): void {
    // The clock of a new owner may begin anywhere.
    const passedMs = this.filledAt === 0 ? 0 : Math.max(0, mono - this.filledAt);
    this.tokens = Math.min(this.perSecond, this.tokens + (passedMs * this.perSecond) / 1_000);
    this.filledAt = mono;
  }
}
