/** G. Freezes: nothing begins of what is frozen, and nothing at a worker that is. */
import { type AttemptClaimed, type Frozen, NOBODY, type SpeculativeClaimed } from '@signalbox/engine';
import type { Checker, Scene } from './checker.ts';
import { taskSpecOf } from './map-book.ts';

/** Nodes read what is frozen each second; a batch, or a slot on loan, may be on its way meanwhile. */
const HEARD_MS = 3_000;

export function freezes(scene: Scene): Checker {
  const { ledger, world, health } = scene;
  const since = new Map<string, { readonly frozen: Frozen; readonly at: number }>();

  function check(change: AttemptClaimed | SpeculativeClaimed): void {
    const run = ledger.run(change.runId);
    const { tenantId, dagId } = run.created;
    const { queue } = taskSpecOf(run, change.taskNo);
    for (const { frozen, at } of since.values()) {
      if (world.now - at < HEARD_MS || health.wellForMs() < 2 * HEARD_MS) continue;
      const isOwn = frozen.tenantId === tenantId;
      const isHeld =
        frozen.kind === 'cluster' ||
        (frozen.kind === 'tenant' && isOwn) ||
        (frozen.kind === 'queue' && isOwn && frozen.name === queue) ||
        (frozen.kind === 'dag' && isOwn && frozen.name === ledger.dags.get(dagId)?.name) ||
        (frozen.kind === 'worker' && frozen.name === change.workerId);
      if (isHeld)
        scene.fail(
          'I46',
          `${change.runId}/${change.taskNo} was claimed, ${frozen.kind} ${frozen.name} is frozen since ${at}`,
        );
    }
  }

  return {
    invariants: ['I46'],
    onHappening(happening) {
      if (happening.kind !== 'freeze') return;
      const key = JSON.stringify(happening.frozen);
      if (happening.isFrozen) since.set(key, { frozen: happening.frozen, at: world.now });
      else since.delete(key);
    },
    onChange(change) {
      if (change.kind !== 'AttemptClaimed' && change.kind !== 'SpeculativeClaimed') return;
      // A task that runs another dag takes nothing of anybody: its child waits.
      if (change.workerId !== NOBODY) check(change);
    },
  };
}
