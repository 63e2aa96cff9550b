/** G. Kept slots: others leave as many slots of the workers as are kept, and what is not kept they may use. */
import {
  type AttemptClaimed,
  type KeptRule,
  type LimitName,
  NOBODY,
  type RunId,
  type SpeculativeClaimed,
  type TenantId,
} from '@signalbox/engine';
import type { Checker, Scene } from './checker.ts';

/** Nodes read each second what is kept, count slots, and read each second what is left; workers that are gone are counted for a while. */
const HEARD_MS = 5_000;
const WELL_MS = 8_000;
const COUNTED_MS = 20_000;

export function reservations(scene: Scene): Checker {
  const { ledger, world, health } = scene;
  const since = new Map<KeptRule, number>();
  /** Since when a limit keeps as many as it does. */
  const changedAt = new Map<LimitName, number>();
  /** They take kept slots. */
  const wereCritical = new Set<RunId>();
  /** The slots that workers have for each, twice a second. */
  const counted = new Map<LimitName, { readonly at: number; readonly slots: number }[]>();

  function capacityOf(limit: LimitName): number {
    const { tenantId, queues } = partsOf(limit);
    let slots = 0;
    for (const { life } of world.workers) {
      if (life === null || !life.shape.queues.some((queue) => queues.includes(queue))) continue;
      if (life.shape.tenants?.includes(tenantId) !== false) slots += life.shape.slots;
    }
    return slots;
  }

  function check(change: AttemptClaimed | SpeculativeClaimed): void {
    const run = ledger.run(change.runId);
    if (run.priority === 'critical' || health.wellForMs() < WELL_MS) return;
    const taken = new Set(ledger.slots.takenBy(run, change.taskNo).map(({ limit }) => limit));
    for (const [limit, at] of changedAt) {
      if (!taken.has(limit) || world.now - at < HEARD_MS) continue;
      const kept = [...since.keys()].reduce((sum, rule) => sum + (rule.limit === limit ? rule.slots : 0), 0);
      const seen = (counted.get(limit) ?? []).filter((one) => world.now - one.at < COUNTED_MS);
      const most = Math.max(...seen.map(({ slots }) => slots), capacityOf(limit));
      const used = ledger.slots.used(limit, null, ({ created }) => !wereCritical.has(created.runId));
      if (kept > 0 && used + 1 > Math.max(0, most - kept))
        scene.fail(
          'I44',
          `${change.runId}/${change.taskNo} was claimed, others use ${used} of ${most} slots, and ${kept} are kept by ${limit}`,
        );
    }
  }

  return {
    invariants: ['I44'],
    onHappening(happening) {
      if (happening.kind !== 'reservation') return;
      const { rule, isKept } = happening;
      if (isKept) since.set(rule, world.now);
      else since.delete(rule);
      changedAt.set(rule.limit, world.now);
    },
    onLook() {
      for (const limit of changedAt.keys()) {
        const seen = (counted.get(limit) ?? []).filter(({ at }) => world.now - at < COUNTED_MS);
        counted.set(limit, [...seen, { at: world.now, slots: capacityOf(limit) }]);
      }
    },
    onChange(change) {
      const isOfPriority = change.kind === 'RunCreated' || change.kind === 'PrioritySet';
      if (isOfPriority && change.priority === 'critical') wereCritical.add(change.runId);
      // It follows the workers. Until all have heard of it and given back what is too many, it is pending.
      if (change.kind === 'LimitSet' && changedAt.has(change.limit)) changedAt.set(change.limit, world.now);
      if (change.kind !== 'AttemptClaimed' && change.kind !== 'SpeculativeClaimed') return;
      if (changedAt.size > 0 && change.workerId !== NOBODY) check(change);
    },
  };
}

/** `kept/<tenant>/<dag, or 0>/<queues>`. */
function partsOf(limit: LimitName): { readonly tenantId: TenantId; readonly queues: readonly string[] } {
  const [, tenantId, , queues = ''] = limit.split('/');
  return { tenantId: Number(tenantId) as TenantId, queues: queues.split(',') };
}
