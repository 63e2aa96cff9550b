/**
 * Claims by the batch that made them, from its commit until the worker must have shown them. They are not timed from
 * the decision: a slow commit must not make a claim look undelivered before it was sent (D5).
 */
import type { ClaimRef } from '../../model/command.ts';
import type { MonoMs } from '../../model/ids.ts';

interface SentBatch {
  readonly batchNo: number;
  readonly claims: ClaimRef[];
  sentAt: MonoMs | null;
}

export class SentClaims {
  private readonly batches: SentBatch[] = [];

  add(batchNo: number, claim: ClaimRef): void {
    const last = this.batches.at(-1);
    if (last?.batchNo === batchNo) last.claims.push(claim);
    else this.batches.push({ batchNo, claims: [claim], sentAt: null });
  }

  settle(settledBatchNo: number, mono: MonoMs): void {
    for (let i = this.batches.length - 1; i >= 0; i--) {
      const batch = this.batches[i]!;
      if (batch.sentAt !== null) return;
      if (batch.batchNo <= settledBatchNo) batch.sentAt = mono;
    }
  }

  /** Claims of a batch that is settled now, and not known to be sent yet. */
  awaitsStepAfter(settledBatchNo: number): boolean {
    const last = this.batches.at(-1);
    return last !== undefined && last.sentAt === null && last.batchNo <= settledBatchNo;
  }

  /** When the oldest claims must have been shown; null while none has been sent. */
  nextDueAt(undeliveredMs: number): number | null {
    const first = this.batches[0];
    return first === undefined || first.sentAt === null ? null : first.sentAt + undeliveredMs;
  }

  /** Takes out the claims of the oldest batch, if they were sent this long ago; null when none were. */
  takeDue(mono: MonoMs, undeliveredMs: number): readonly ClaimRef[] | null {
    const dueAt = this.nextDueAt(undeliveredMs);
    return dueAt === null || dueAt > mono ? null : this.batches.shift()!.claims;
  }
}
