/** One history: a cluster, users and faults drawn from a seed, run to its end or until a promise is broken. */
import type { TenantId } from '@signalbox/engine';
import { Watch } from './checkers/index.ts';
import type { Sabotage } from './fake-store/index.ts';
import type { Fault } from './fault.ts';
import { drawFaults } from './faults.ts';
import { SimClients } from './world/client.ts';
import type { Broken, History } from './world/history.ts';
import { type NodeHooks, SimNode } from './world/node.ts';
import type { ClockFaults } from './world/process.ts';
import { SimWorker } from './world/worker.ts';
import { planDags, QUEUES } from './world/workload.ts';
import { MAX_DEFAULT_JITTER_MS, World } from './world/world.ts';

/**
 * *safety*: faults all the time, and nothing wrong may ever happen. *liveness*: faults for a while; then they stop, or go on for
 * ever outside a healthy core, and everything must come to its end.
 */
export type Mode = 'safety' | 'liveness';

export interface Simulation {
  readonly seed: number;
  readonly mode: Mode;
  readonly hooks?: NodeHooks;
  readonly sabotage?: Partial<Sabotage>;
  readonly onWorld?: (world: World) => void;
}

export interface Outcome {
  readonly seed: number;
  readonly mode: Mode;
  readonly broken: Broken | null;
  readonly faults: readonly string[];
  readonly cluster: string;
  readonly stepCount: number;
  readonly simulatedMs: number;
  readonly history: History;
  readonly invariants: readonly string[];
}

const FAULTS_FROM_MS = 3_000;
/** As long as commits come, things go on: one that takes longer than this without any has come to a stop. */
const STANDSTILL_MS = 120_000;

export async function simulate({ seed, mode, hooks, sabotage, onWorld }: Simulation): Promise<Outcome> {
  const world = new World({ seed, ...(sabotage !== undefined && { sabotage }) });
  const cluster = buildCluster(world, hooks ?? {});
  onWorld?.(world);
  const watch = new Watch(world);
  const faultsUntil = world.chance.fork('length').between(15_000, mode === 'safety' ? 80_000 : 45_000);
  const faults = drawFaults(world, FAULTS_FROM_MS, faultsUntil);
  const onGoing = scheduleFaults(world, faults);
  watch.health.whenSick(() => onGoing.size > 0);
  const clients = startAll(world);
  raiseZoneData(world);
  changeDefaultJitter(world);
  await world.runUntil(faultsUntil);
  if (mode === 'liveness') await heal(world, watch, clients, onGoing);
  watch.end();
  return {
    seed,
    mode,
    broken: world.history.broken,
    faults: faults.map(describeFault),
    cluster,
    stepCount: world.events.stepCount,
    simulatedMs: world.now,
    history: world.history,
    invariants: watch.invariants,
  };
}

function buildCluster(world: World, hooks: NodeHooks): string {
  const chance = world.chance.fork('cluster');
  const clocks = (): ClockFaults => ({
    skewMs: chance.happens(0.5) ? 0 : Math.round(chance.between(-60_000, 60_000)),
    drift: chance.between(-0.0005, 0.0005),
  });
  for (let i = chance.int(1, 3); i > 0; i--) {
    world.nodes.push(new SimNode(world, `n${world.nodes.length}`, clocks(), hooks));
  }
  for (let i = chance.int(1, 4); i > 0; i--) {
    // The first listens to everything, so that each task has a worker that fits.
    const queues = world.workers.length === 0 || chance.happens(0.5) ? QUEUES : [chance.pick(QUEUES)];
    const shape = { slots: chance.int(1, 4), queues, tenants: planTenants(world) };
    world.workers.push(new SimWorker(world, `w${world.workers.length}`, shape, clocks()));
  }
  const workers = world.workers.map(
    ({ machine, shape }) => `${machine} (${shape.slots} slots: ${shape.queues.join(', ')})`,
  );
  return `${world.nodes.length} nodes, workers ${workers.join(', ')}`;
}

/** The first is of the fleet, so that each tenant has a worker; others may be of the fleet, or serve some tenants only. */
function planTenants({ workers, tenants, chance }: World): readonly TenantId[] | null {
  const draw = chance.fork(`tenants of worker ${workers.length}`);
  if (tenants.ids.length === 1) return tenants.ids;
  if (workers.length === 0 || draw.happens(0.5)) return draw.happens(0.5) ? null : tenants.ids;
  return tenants.ids
    .filter(() => draw.happens(0.5))
    .concat(draw.pick(tenants.ids))
    .filter(isFirst);
}

const isFirst = <T>(one: T, at: number, all: readonly T[]): boolean => all.indexOf(one) === at;

function startAll(world: World): SimClients {
  const chance = world.chance.fork('start');
  for (const node of world.nodes) world.events.in(chance.between(0, 300), () => node.start());
  for (const worker of world.workers) world.events.in(chance.between(0, 500), () => worker.start());
  const clients = new SimClients(world, planDags(world.chance.fork('dags'), chance.int(1, 4), world.tenants.ids));
  clients.start(chance.pick([300, 800, 2_000]));
  return clients;
}

/** In some histories newer zone data comes into use. */
function raiseZoneData({ chance, events, history, zones }: World): void {
  const draw = chance.fork('newer zone data');
  if (!draw.happens(0.3)) return;
  events.in(draw.between(5_000, 60_000), () => {
    zones.edition = 2;
    history.add({ kind: 'fault', what: 'newer zone data is used' });
  });
}

/** In some histories somebody changes the jitter of the cluster. Servers then compute the windows in memory anew. */
function changeDefaultJitter(world: World): void {
  const { chance, events, history, nodes } = world;
  const draw = chance.fork('change of the default jitter');
  if (!draw.happens(0.3)) return;
  events.in(draw.between(5_000, 60_000), () => {
    world.defaultJitterMs = draw.pick([0, draw.int(1, MAX_DEFAULT_JITTER_MS)]);
    history.add({ kind: 'fault', what: `the cluster has a jitter of ${world.defaultJitterMs} ms` });
    for (const { host, process } of nodes) {
      if (process.isAlive) process.deliver(() => host?.reload('the cluster has another jitter'));
    }
  });
}

/** Faults that are on, each with what ends it. */
type OnGoing = Map<Fault, () => void>;

function scheduleFaults({ events, history }: World, faults: readonly Fault[]): OnGoing {
  const onGoing: OnGoing = new Map();
  for (const fault of faults) {
    events.in(fault.at, () => {
      history.add({ kind: 'fault', what: fault.what });
      const undo = fault.begin();
      if (undo === null) return;
      onGoing.set(fault, undo);
      events.in(fault.forMs, () => {
        if (!onGoing.delete(fault)) return;
        history.add({ kind: 'fault', what: `over: ${fault.what}` });
        undo();
      });
    });
  }
  return onGoing;
}

async function heal(world: World, watch: Watch, clients: SimClients, onGoing: OnGoing): Promise<void> {
  for (const [fault, undo] of [...onGoing]) {
    onGoing.delete(fault);
    undo();
  }
  leaveOutside(world);
  world.history.add({ kind: 'fault', what: 'all is healed' });
  watch.healed();
  const healedAt = world.now;
  await world.runUntil(healedAt + 5_000);
  clients.stopSchedules();
  await world.runUntil(healedAt + 45_000);
  let [committed, since] = [0, world.now];
  while (world.history.broken === null && world.now - since < STANDSTILL_MS) {
    if (watch.ledger.live.size === 0 && clients.openCount === 0) break;
    await world.runUntil(world.now + 1_000);
    const { length } = world.database.journal;
    if (length > committed) [committed, since] = [length, world.now];
  }
  await world.runUntil(world.now + 5_000);
}

/** Some machines never come back: what is left is enough. */
function leaveOutside(world: World): void {
  const chance = world.chance.fork('core');
  if (chance.happens(0.6)) return;
  for (const node of world.nodes.slice(1)) {
    if (chance.happens(0.5)) continue;
    node.isWanted = false;
    if (chance.happens(0.5)) node.crash('power');
    else node.pause('stopped');
    world.network.unheard(node.machine);
  }
  for (const worker of world.workers.slice(1)) {
    if (chance.happens(0.6)) continue;
    worker.isWanted = false;
    if (chance.happens(0.5)) worker.crash('kill');
    else worker.pause('stopped');
    world.network.unheard(worker.machine);
  }
}

function describeFault({ at, what, forMs }: Fault): string {
  return `${(at / 1000).toFixed(3)} s: ${what}${forMs > 0 ? `, for ${(forMs / 1000).toFixed(1)} s` : ''}`;
}
