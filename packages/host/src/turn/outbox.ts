/**
 * Sends answers and effects in the order of the batches, and never before the commit of their batch. This includes refusals
 * and repeated answers, because they can depend on a batch in flight (I15).
 */
export interface Leaving {
  readonly batchNo: number;
  readonly committed: Promise<void>;
  /** Answers callers, sends effects. */
  readonly send: () => void;
  /** The commit failed or is unknown. */
  readonly fail: (reason: string) => void;
}

export class Outbox {
  private readonly waiting: Leaving[] = [];
  private readonly onSettled: (batchNo: number) => void;
  private readonly onFailure: (error: unknown) => void;
  private isBroken = false;
  private isPumping = false;
  private waiters: { readonly below: number; readonly resolve: () => void }[] = [];

  constructor(onSettled: (batchNo: number) => void, onFailure: (error: unknown) => void) {
    this.onSettled = onSettled;
    this.onFailure = onFailure;
  }

  get inFlight(): number {
    return this.waiting.length;
  }

  sendAfter(leaving: Leaving): void {
    this.waiting.push(leaving);
    if (!this.isPumping) void this.pump();
  }

  /** Resolves when nothing is in flight. */
  whenIdle(): Promise<void> {
    return this.whenBelow(1);
  }

  whenBelow(count: number): Promise<void> {
    if (this.waiting.length < count) return Promise.resolve();
    return new Promise((resolve) => this.waiters.push({ below: count, resolve }));
  }

  /** Drops everything that waits. Callers are told that the outcome is unknown. */
  abandon(reason: string): void {
    this.isBroken = true;
    for (const leaving of this.waiting.splice(0)) leaving.fail(reason);
    this.tellWaiters();
  }

  private tellWaiters(): void {
    const told = this.waiters.filter(({ below }) => this.waiting.length < below);
    if (told.length === 0) return;
    this.waiters = this.waiters.filter(({ below }) => this.waiting.length >= below);
    for (const { resolve } of told) resolve();
  }

  private async pump(): Promise<void> {
    this.isPumping = true;
    try {
      for (let next = this.waiting[0]; next !== undefined; next = this.waiting[0]) {
        await next.committed;
        if (this.isBroken) return;
        this.waiting.shift();
        this.onSettled(next.batchNo);
        next.send();
        this.tellWaiters();
      }
    } catch (error) {
      if (!this.isBroken) this.onFailure(error);
    } finally {
      this.isPumping = false;
    }
  }
}
