/**
 * Slots that are kept for a dag or a tenant. The others have what is left of the slots that workers offer: a limit like any other, whose
 * home follows the workers. So the owner of its home counts their slots, each second while some are kept, and sets it.
 */
import {
  type Actor,
  type Command,
  homeOf,
  isKept,
  type KeptRule,
  keepOf,
  type LimitName,
  type ShardNo,
} from '@signalbox/engine';
import type { CapRule } from '@signalbox/store';
import type { Served } from '../peer/message.ts';

interface KeptPorts {
  readonly owns: (shard: ShardNo) => boolean;
  readonly tell: (command: Command) => void;
  /** Null: not all nodes have answered. */
  readonly capacity: (of: readonly Served[]) => Promise<readonly number[] | null>;
}

const SYSTEM = 'system' as Actor;

export class KeptSlots {
  private readonly ports: KeptPorts;
  private isBusy = false;

  constructor(ports: KeptPorts) {
    this.ports = ports;
  }

  /** `caps` are those that are set, or were: what is left is one while slots are kept. */
  async settle(rules: readonly KeptRule[], caps: readonly CapRule[]): Promise<void> {
    const { owns } = this.ports;
    const isHere = ({ limit }: { readonly limit: LimitName }) => owns(homeOf(limit));
    const kept = sumsOf(rules.filter(isHere));
    for (const cap of caps) {
      if (!cap.isLimited || !isKept(cap.limit) || kept.has(cap.limit) || !isHere(cap)) continue;
      this.set({ limit: cap.limit, tenantId: keepOf(cap.limit).tenantId }, null);
    }
    if (kept.size === 0 || this.isBusy) return;
    this.isBusy = true;
    try {
      const all = [...kept.values()];
      const capacity = await this.ports.capacity(all.map(({ limit }) => keepOf(limit)));
      // One that gives no answer is soon known to be gone, and its workers are elsewhere then.
      if (capacity === null) return;
      all.forEach((one, i) => {
        if (isHere(one)) this.set(one, Math.max(0, (capacity[i] ?? 0) - one.slots));
      });
    } finally {
      this.isBusy = false;
    }
  }

  private set({ limit, tenantId }: Omit<KeptRule, 'slots'>, slots: number | null): void {
    this.ports.tell({ kind: 'SetLimit', shard: homeOf(limit), tenantId, limit, slots, actor: SYSTEM });
  }
}

/** Several reservations may be for the same dag. */
function sumsOf(rules: readonly KeptRule[]): Map<LimitName, KeptRule> {
  const sums = new Map<LimitName, KeptRule>();
  for (const rule of rules) sums.set(rule.limit, { ...rule, slots: rule.slots + (sums.get(rule.limit)?.slots ?? 0) });
  return sums;
}
