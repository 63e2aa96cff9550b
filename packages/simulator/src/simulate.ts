/** One history: a cluster, users and faults drawn from a seed, run to its end or until a promise is broken. */
import type { QueueName, QueueWeights, TenantId } from '@signalbox/engine';
import { Watch } from './checkers/index.ts';
import type { Sabotage } from './fake-store/index.ts';
import type { JournalEntry } from './fake-store/journal.ts';
import type { Fault } from './fault.ts';
import { drawFaults } from './faults.ts';
import type { Chance } from './world/chance.ts';
import { SimClients } from './world/client.ts';
import { planGangs, usesGangs } from './world/gangs.ts';
import type { Broken, History } from './world/history.ts';
import { planKeys, usesKeys } from './world/keys.ts';
import { planPools, usesLimits } from './world/limits.ts';
import { type NodeHooks, SimNode } from './world/node.ts';
import { planPlacement, planTraits, usesPlacement } from './world/placement.ts';
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
  /** How long faults go on; drawn, unless something is arranged that takes longer. */
  readonly lengthMs?: number;
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
/** How often users do something, on average. Where all must end, more would only make the wait for the end longer. */
const USE_EVERY_MS: Readonly<Record<Mode, readonly number[]>> = {
  safety: [300, 800, 2_000],
  liveness: [600, 1_200, 2_500],
};
/** Most histories are short: they find as much per second of work as long ones do (decision 0185). Some take what needs time. */
const LONG_SHARE = 1 / 8;
const LENGTHS_MS: Readonly<Record<Mode, Readonly<Record<'short' | 'long', readonly [min: number, max: number]>>>> = {
  safety: { short: [6_000, 20_000], long: [15_000, 80_000] },
  liveness: { short: [6_000, 20_000], long: [15_000, 45_000] },
};
/** As long as commits come, things go on: one that takes longer than this without any has come to a stop. */
const STANDSTILL_MS = 120_000;
/** What must have recovered by a bound has had its time, and was looked at for a while after it. */
const RECOVERED_MS = 36_000;

export async function simulate({ seed, mode, hooks, sabotage, onWorld, lengthMs }: Simulation): Promise<Outcome> {
  const world = new World({ seed, ...(sabotage !== undefined && { sabotage }) });
  const cluster = buildCluster(world, hooks ?? {});
  onWorld?.(world);
  const watch = new Watch(world);
  const faultsUntil = lengthMs ?? drawLength(world, mode);
  const faults = drawFaults(world, FAULTS_FROM_MS, faultsUntil);
  const onGoing = scheduleFaults(world, faults);
  watch.health.whenSick(() => onGoing.size > 0);
  const clients = startAll(world, USE_EVERY_MS[mode]);
  raiseZoneData(world, faultsUntil);
  changeDefaultJitter(world, faultsUntil);
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

function drawLength({ chance }: World, mode: Mode): number {
  const draw = chance.fork('length');
  return draw.between(...LENGTHS_MS[mode][draw.happens(LONG_SHARE) ? 'long' : 'short']);
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
    const slots = chance.int(1, 4);
    const no = world.workers.length;
    const traits = planTraits(world.chance.fork(`traits of worker ${no}`), no, slots);
    const weights = planWeights(world.chance.fork(`weights of worker ${no}`), queues);
    const shape = {
      slots,
      queues,
      tenants: planTenants(world),
      ...(weights !== null && { weights }),
      // A gateway lends for a gang, too, only slots of workers that say what they have.
      ...((usesPlacement(world.chance) || usesGangs(world.chance)) && { traits }),
    };
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

/** Some workers of several queues take from them in a proportion. */
function planWeights(draw: Chance, queues: readonly QueueName[]): QueueWeights | null {
  if (queues.length < 2 || !draw.happens(0.4)) return null;
  return Object.fromEntries(queues.map((name) => [name, draw.pick([1, 2, 4])]));
}

const isFirst = <T>(one: T, at: number, all: readonly T[]): boolean => all.indexOf(one) === at;

function startAll(world: World, useEveryMs: readonly number[]): SimClients {
  const chance = world.chance.fork('start');
  for (const node of world.nodes) world.events.in(chance.between(0, 300), () => node.start());
  for (const worker of world.workers) world.events.in(chance.between(0, 500), () => worker.start());
  const plain = planDags(world.chance.fork('dags'), chance.int(1, 4), world.tenants.ids);
  const limited = usesLimits(world.chance) ? planPools(world.chance.fork('pools'), plain) : plain;
  const keyed = usesKeys(world.chance) ? planKeys(world.chance.fork('keys'), limited) : limited;
  const dags = usesPlacement(world.chance) ? planPlacement(world.chance.fork('placement'), keyed) : keyed;
  // Limits that span shards may be smaller than a gang.
  const withGangs =
    usesGangs(world.chance) && !usesLimits(world.chance)
      ? planGangs(
          world.chance.fork('gangs'),
          dags,
          world.workers.map(({ shape }) => shape),
        )
      : dags;
  const clients = new SimClients(world, withGangs);
  clients.start(chance.pick(useEveryMs));
  return clients;
}

/** In some histories newer zone data comes into use. */
function raiseZoneData(world: World, faultsUntil: number): void {
  const draw = world.chance.fork('newer zone data');
  if (draw.happens(0.3)) world.events.in(sometime(draw, faultsUntil), () => useNewerZones(world));
}

/** Mostly within a history that has such a length, and not before it is under way. */
function sometime(draw: Chance, faultsUntil: number): number {
  return draw.between(FAULTS_FROM_MS, 1.2 * faultsUntil);
}

/** Servers load all anew. */
export function useNewerZones({ history, zones, nodes }: World): void {
  if (zones.edition === 2) return;
  zones.edition = 2;
  history.add({ kind: 'fault', what: 'newer zone data is used' });
  for (const { host, process } of nodes) if (process.isAlive) host?.reload('newer zone data');
}

/** In some histories somebody changes the jitter of the cluster. Servers then compute the windows in memory anew. */
function changeDefaultJitter(world: World, faultsUntil: number): void {
  const { chance, events, history, nodes } = world;
  const draw = chance.fork('change of the default jitter');
  if (!draw.happens(0.3)) return;
  events.in(sometime(draw, faultsUntil), () => {
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
  await world.runUntil(healedAt + RECOVERED_MS);
  const { journal } = world.database;
  let [seen, since] = [0, world.now];
  while (world.history.broken === null && world.now - since < STANDSTILL_MS) {
    if (watch.ledger.live.size === 0 && clients.openCount === 0) break;
    await world.runUntil(world.now + 1_000);
    if (journal.slice(seen).some(isProgress)) since = world.now;
    seen = journal.length;
  }
  await world.runUntil(world.now + 5_000);
}

/** Expectations commit for ever, whatever else has come to a stop. */
function isProgress(entry: JournalEntry): boolean {
  if (entry.kind !== 'commit') return false;
  return entry.changes.some(({ kind }) => kind !== 'ExpectationSet' && kind !== 'EventMissed');
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
  // A gang needs a worker for each of its members.
  if (usesGangs(world.chance)) return;
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
