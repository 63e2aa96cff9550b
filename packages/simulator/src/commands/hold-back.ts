/**
 * What holds work back in a history of the engine alone: limits that span shards, freezes, suspended tenants, and runs that are set
 * aside. In half of the histories nobody does any of it.
 */
import type { Frozen, RunId } from '@signalbox/engine';
import { type Scenario, SlotLines } from '@signalbox/engine/testing';
import { planCrossing } from '../world/budgets.ts';
import type { Chance } from '../world/chance.ts';
import { capsIn, limitsLeft, planLimit } from '../world/limits.ts';
import { type PlannedDag, QUEUES } from '../world/workload.ts';
import { WHO } from './commands.ts';

const TENANTS = [WHO.tenantId];
/** Of how many of the newest runs one is set aside. */
const RECENT = 15;

export class HoldBack {
  readonly #box: Scenario;
  readonly #chance: Chance;
  readonly #dags: readonly PlannedDag[];
  readonly #lines: SlotLines;
  readonly #tell: (what: string, value: unknown) => void;
  #frozen: readonly Frozen[] = [];
  #isSuspended = false;

  constructor(
    box: Scenario,
    chance: Chance,
    dags: readonly PlannedDag[],
    tell: (what: string, value: unknown) => void,
  ) {
    this.#box = box;
    this.#chance = chance;
    this.#dags = dags;
    this.#lines = new SlotLines(box);
    this.#tell = tell;
  }

  act(): void {
    const chance = this.#chance;
    const draw = chance.next();
    if (draw < 0.1) this.#feed(planLimit(chance, TENANTS, WHO.actor));
    else if (draw < 0.15) this.#freeze();
    else if (draw < 0.18) this.#suspend(chance.happens(0.5));
    else if (draw < 0.2) this.#strike();
    else if (draw < 0.21) this.#loadWithout();
    else if (draw < 0.23) this.#feed(planCrossing(chance, TENANTS, [this.#dags[0]!.shard]));
    if (chance.happens(0.1)) this.#tellCaps();
    if (this.#box.node.isHolding) return;
    if (chance.happens(0.05)) this.#lines.take();
    else if (chance.happens(0.6)) this.#lines.deliver();
  }

  /** A new owner is told before it gets slots, and messages to the one before are lost. */
  onTakeover(): void {
    this.#lines.take();
    this.#tellRules();
  }

  /** So that everything can come to its end. */
  letGo(): void {
    this.#frozen = [];
    this.#isSuspended = false;
    this.#tellRules();
    for (const command of limitsLeft(this.#box.node.store.tables, TENANTS, WHO.actor)) this.#feed(command);
    this.#tellCaps();
  }

  deliver(): void {
    this.#lines.deliver();
  }

  /** Of limits, what is not back though nothing runs (I45). */
  left(): string[] {
    const { limits } = this.#box.state;
    return [...limits.homes.values()]
      .filter((home) => home.slots !== null && home.out() > 0)
      .map((home) => `${home.out()} slots of ${home.name}`);
  }

  /** No shard uses more than it has (I44). */
  check(): void {
    for (const { name, isLimited, used, have } of this.#box.state.limits.all())
      if (isLimited && used > have) throw new Error(`I44: ${used} slots of ${name} are in use, the shard has ${have}`);
  }

  #freeze(): void {
    const chance = this.#chance;
    const kind = chance.pick(['cluster', 'tenant', 'queue', 'dag', 'none'] as const);
    const { tenantId } = WHO;
    const named = { queue: chance.pick(QUEUES), dag: chance.pick(this.#dags).name, cluster: '', tenant: '' };
    this.#frozen = kind === 'none' ? [] : [{ tenantId, kind, name: named[kind] }];
    this.#tellRules();
  }

  #suspend(isSuspended: boolean): void {
    this.#isSuspended = isSuspended;
    this.#tellRules();
  }

  #tellRules(): void {
    const isSuspended = this.#isSuspended;
    this.#feed({ kind: 'SetTenants', tenants: [{ tenantId: WHO.tenantId, weight: 1, isSuspended }] });
    this.#feed({ kind: 'SetFrozen', frozen: this.#frozen });
  }

  #tellCaps(): void {
    this.#feed({ kind: 'SetLimits', limits: capsIn(this.#box.node.store.tables) });
  }

  #strike(): void {
    const runId = this.#someRun();
    if (runId !== null)
      this.#feed({ kind: 'StrikeRun', runId, reason: 'It threw.', setAside: this.#chance.happens(0.5) });
  }

  /** A load that goes round a run because it broke off there. The run is set aside, and the strike may come twice. */
  #loadWithout(): void {
    const { node } = this.#box;
    this.#box.settle();
    const runId = this.#someRun();
    if (runId === null) return;
    this.#tell('a load goes round a run', runId);
    node.state = node.restored((state) => state.quarantined.add(runId));
    if (this.#chance.happens(0.5)) this.#box.hold();
    const strike = { kind: 'StrikeRun', runId, reason: 'Loading broke off.', setAside: true } as const;
    for (let i = this.#chance.int(1, 2); i > 0; i--) this.#feed(strike);
    this.#box.settle();
    this.onTakeover();
  }

  #someRun(): RunId | null {
    const live = [...this.#box.node.store.tables.runs.values()].slice(-RECENT);
    return live.length === 0 ? null : this.#chance.pick(live).runId;
  }

  #feed(command: Parameters<Scenario['feed']>[0]): void {
    this.#tell('command', command);
    this.#tell('  answer', this.#box.feed(command));
  }
}
