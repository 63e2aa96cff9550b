/** What people freeze and thaw: the cluster, tenants, queues, dags, workers. */
import type { Frozen } from '@signalbox/engine';
import { type PlannedDag, QUEUES } from './workload.ts';
import type { World } from './world.ts';

const EVERY_MS = 9_000;
/** Nothing stays frozen for longer: a history must not be about waiting. */
const LONGEST_MS = 8_000;

export class FreezeUse {
  readonly #world: World;
  readonly #dags: readonly PlannedDag[];

  constructor(world: World, dags: readonly PlannedDag[]) {
    this.#world = world;
    this.#dags = dags;
  }

  /** In half of the histories. */
  start(isStopped: () => boolean): void {
    const { events } = this.#world;
    const chance = this.#world.chance.fork('use of freezes');
    if (!chance.happens(0.5)) return;
    const next = () => {
      if (isStopped()) return;
      const frozen = this.#draw(chance);
      this.#set(frozen, true);
      events.in(chance.between(500, LONGEST_MS), () => this.#set(frozen, false));
      events.in(chance.wait(EVERY_MS), next);
    };
    events.in(6_000, next);
  }

  thawAll(): void {
    for (const frozen of this.#world.tenants.frozen()) this.#set(frozen, false);
  }

  #draw(chance: World['chance']): Frozen {
    const { tenants, workers } = this.#world;
    const tenantId = chance.pick(tenants.ids);
    const kind = chance.pick(['cluster', 'tenant', 'queue', 'dag', 'worker'] as const);
    if (kind === 'queue') return { tenantId, kind, name: chance.pick(QUEUES) };
    if (kind === 'worker') return { tenantId, kind, name: chance.pick(workers).life?.workerId ?? '' };
    if (kind !== 'dag') return { tenantId, kind, name: '' };
    const dag = chance.pick(this.#dags);
    return { tenantId: dag.tenantId, kind, name: dag.name };
  }

  #set(frozen: Frozen, isFrozen: boolean): void {
    const { tenants, history } = this.#world;
    if (tenants.isFrozen(frozen) === isFrozen) return;
    tenants.freeze(frozen, isFrozen);
    history.add({ kind: 'freeze', frozen, isFrozen });
  }
}
