/** What the people who run the installation do to tenants, and whose each command is. */
import type { Command, DagId, RunId, TenantId } from '@signalbox/engine';
import type { PlannedDag } from './workload.ts';
import type { World } from './world.ts';

const ACTIVE = { isSuspended: false, isDeleted: false };
const EVERY_MS = 6_000;
/** Nobody stays suspended for longer: a history must not be about waiting. */
const LONGEST_MS = 8_000;

export class TenantUse {
  readonly #world: World;
  readonly #dagOf: (dagId: DagId) => PlannedDag | undefined;

  constructor(world: World, dagOf: (dagId: DagId) => PlannedDag | undefined) {
    this.#world = world;
    this.#dagOf = dagOf;
  }

  /** Suspends, deletes, resumes and weighs, where there are several tenants. */
  start(isStopped: () => boolean): void {
    const { tenants, events } = this.#world;
    if (tenants.ids.length === 1) return;
    const chance = this.#world.chance.fork('use of tenants');
    const deletes = this.#world.chance.fork('deleted tenants');
    const next = () => {
      if (isStopped()) return;
      const tenantId = chance.pick(tenants.ids);
      if (chance.happens(0.5)) tenants.weigh(tenantId, chance.pick([0.5, 1, 3, 10]));
      else {
        this.#set(tenantId, { isSuspended: true, isDeleted: deletes.happens(0.3) });
        events.in(chance.between(500, LONGEST_MS), () => this.#set(tenantId, ACTIVE));
      }
      events.in(chance.wait(EVERY_MS), next);
    };
    events.in(5_000, next);
  }

  resumeAll(): void {
    for (const tenantId of this.#world.tenants.ids) this.#set(tenantId, ACTIVE);
  }

  #set(tenantId: TenantId, to: typeof ACTIVE): void {
    const { tenants, history } = this.#world;
    if (tenants.isSuspended(tenantId) === to.isSuspended && tenants.isDeleted(tenantId) === to.isDeleted) return;
    tenants.set(tenantId, to);
    history.add({ kind: 'tenant', tenantId, ...to });
  }

  /** Whoever works with a dag or a run has a credential of its tenant. */
  ofOwner(command: Command): Command {
    const tenantId = this.#ownerOf(command);
    return tenantId === undefined || !('tenantId' in command) ? command : { ...command, tenantId };
  }

  #ownerOf(command: Command): TenantId | undefined {
    const { runs } = this.#world.database.tables;
    if ('dagId' in command) return this.#dagOf(command.dagId)?.tenantId;
    const runId = runOf(command);
    return runId === undefined ? undefined : runs.get(runId)?.tenantId;
  }
}

function runOf(command: Command): RunId | undefined {
  if (command.kind === 'ReplayDeadLetter') return command.deadLetter.runId;
  if (command.kind === 'CloseDeadLetters') return command.deadLetters[0]?.runId;
  return 'runId' in command ? command.runId : undefined;
}
