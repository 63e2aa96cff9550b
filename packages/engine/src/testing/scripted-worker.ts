/** A worker and its gateway as a script: it does what a test tells it, and records what it was told. */

import type { KillAttempt, SendAssignment } from '../decide/effect.ts';
import type { ClaimRef } from '../model/command.ts';
import type { NodeId, QueueName, TenantId, WorkerId } from '../model/ids.ts';
import type { Room } from '../model/placement.ts';

export class ScriptedWorker {
  readonly id: WorkerId;
  gateway = 'gateway' as NodeId;
  /** Whom it serves; null: everybody. */
  tenants: readonly TenantId[] | null = [1 as TenantId];
  queues: readonly QueueName[];
  /** What it runs, as its heartbeats tell it. */
  holds: ClaimRef[] = [];
  /** Assignments go astray. */
  isDeaf = false;
  readonly assigned: SendAssignment[] = [];
  readonly killed: KillAttempt[] = [];
  /** Slots that came back unused. */
  returned = 0;
  /** Resources that came back unused. */
  readonly roomReturned: Room = {};

  constructor(name: string, queues: readonly string[]) {
    this.id = name as WorkerId;
    this.queues = queues as readonly QueueName[];
  }

  assign(effect: SendAssignment): void {
    if (this.isDeaf) return;
    this.assigned.push(effect);
    this.holds.push(effect.claim);
  }

  drop(claim: ClaimRef): void {
    this.holds = this.holds.filter((held) => held.runId !== claim.runId || held.taskNo !== claim.taskNo);
  }
}
