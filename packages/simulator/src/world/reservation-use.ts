/** Slots that people keep for a dag or a tenant, for a while. */
import { type DagId, type KeptRule, keptLimit, type QueueName } from '@signalbox/engine';
import { type PlannedDag, QUEUES } from './workload.ts';
import type { World } from './world.ts';

const SHARE = 0.35;
const EVERY_MS = 12_000;
/** Nothing is kept for longer: a history must not be about waiting. */
const LONGEST_MS = 20_000;
const MOST_SLOTS = 3;

export class ReservationUse {
  readonly #world: World;
  readonly #dags: readonly PlannedDag[];
  readonly #dagIdOf: (dag: PlannedDag) => DagId | undefined;

  constructor(world: World, dags: readonly PlannedDag[], dagIdOf: (dag: PlannedDag) => DagId | undefined) {
    this.#world = world;
    this.#dags = dags;
    this.#dagIdOf = dagIdOf;
  }

  start(isStopped: () => boolean): void {
    const { events } = this.#world;
    const chance = this.#world.chance.fork('kept slots');
    if (!chance.happens(SHARE)) return;
    const next = () => {
      if (isStopped()) return;
      const rule = this.#draw(chance);
      if (rule !== null) {
        this.#set(rule, true);
        events.in(chance.between(3_000, LONGEST_MS), () => this.#set(rule, false));
      }
      events.in(chance.wait(EVERY_MS), next);
    };
    events.in(4_000, next);
  }

  letAllGo(): void {
    for (const rule of this.#world.tenants.kept()) this.#set(rule, false);
  }

  #draw(chance: World['chance']): KeptRule | null {
    const isOfTenant = this.#world.tenants.ids.length > 1 && chance.happens(0.4);
    const dag = chance.pick(this.#dags);
    const dagId = this.#dagIdOf(dag);
    const queues: readonly QueueName[] = chance.happens(0.3) ? QUEUES : [chance.pick(QUEUES)];
    const slots = chance.int(1, MOST_SLOTS);
    if (dagId === undefined) return null;
    const { tenantId } = dag;
    return { limit: keptLimit({ tenantId, dagId: isOfTenant ? null : dagId, queues }), tenantId, slots };
  }

  #set(rule: KeptRule, isKept: boolean): void {
    const { tenants, history } = this.#world;
    if (tenants.kept().includes(rule) === isKept) return;
    tenants.keep(rule, isKept);
    history.add({ kind: 'reservation', rule, isKept });
  }
}
