/** G. Tenants: nothing of a suspended one begins, and schedules of a deleted one create no runs. Whom a worker serves is looked at in `d-dispatch.ts`. */
import { NOBODY, type TenantId } from '@signalbox/engine';
import type { Checker, Scene } from './checker.ts';

/** Nodes read what is known of tenants each second; a batch may be on its way meanwhile. */
const HEARD_MS = 3_000;

export function tenants(scene: Scene): Checker {
  const { ledger, world, health } = scene;
  const suspendedAt = new Map<TenantId, number>();
  const deletedAt = new Map<TenantId, number>();
  const isHeard = (since: number) => world.now - since >= HEARD_MS && health.wellForMs() >= 2 * HEARD_MS;
  return {
    invariants: ['I2', 'I46', 'I65'],
    onHappening(happening) {
      if (happening.kind !== 'tenant') return;
      if (happening.isSuspended) suspendedAt.set(happening.tenantId, world.now);
      else suspendedAt.delete(happening.tenantId);
      if (happening.isDeleted) deletedAt.set(happening.tenantId, world.now);
      else deletedAt.delete(happening.tenantId);
    },
    onChange(change) {
      if (change.kind === 'RunCreated' && (change.cause === 'schedule' || change.cause === 'backfill')) {
        const since = deletedAt.get(change.tenantId);
        if (since !== undefined && isHeard(since))
          scene.fail('I2', `run ${change.runId} was created for a tenant that is deleted since ${since}`);
      }
      if (change.kind !== 'AttemptClaimed' && change.kind !== 'SpeculativeClaimed') return;
      // A task that runs another dag takes nothing of anybody: its child waits.
      if (change.workerId === NOBODY) return;
      const since = suspendedAt.get(ledger.run(change.runId).created.tenantId);
      if (since === undefined || !isHeard(since)) return;
      scene.fail('I46', `${change.runId}/${change.taskNo} of a tenant that is suspended since ${since} was claimed`);
    },
  };
}
