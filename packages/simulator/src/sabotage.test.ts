/** A test of the tests: with a guard of the product taken out, from outside, histories break promises, and soon. */
import {
  type Actor,
  type AttemptSlot,
  type Change,
  type Command,
  type Effect,
  type Instant,
  type NodeId,
  quotaHome,
  type ScheduleSpec,
  type State,
  type StoredSchedule,
  type TaskNo,
  type TaskSlot,
  type TenantId,
} from '@signalbox/engine';
import type { Host } from '@signalbox/host';
import type { CommitBatch, LoadedHeads } from '@signalbox/store';
import { expect, test } from 'vitest';
import type { Sabotage } from './fake-store/index.ts';
import { FakeStore } from './fake-store/index.ts';
import { hidesAdded } from './sabotage-adding.ts';
import { forgetsOneInstance, slotIn } from './sabotage-maps.ts';
import { type Mode, type Simulation, simulate, useNewerZones } from './simulate.ts';
import type { World } from './world/world.ts';

interface Case {
  readonly what: string;
  /** Histories in which it must show. */
  readonly within: number;
  /** A seed that showed it, which is tried first. A change of the workload makes it another history; then all are tried. */
  readonly shownBy?: number;
  readonly mode?: Mode;
  readonly expected: RegExp;
  readonly sabotage?: Partial<Sabotage>;
  readonly onHost?: (host: Host) => void;
  readonly onWorld?: (world: World) => void;
  /** What is arranged takes this long. */
  readonly lengthMs?: number;
}

/** The insides that are patched: not part of what the host promises to anybody. */
interface Insides {
  turns: {
    inbox: { offer(envelope: { command: Command }): boolean };
    current(): State | null;
    ports: { store: FakeStore; onEffects: (effects: readonly unknown[]) => void };
    decide(...parts: unknown[]): void;
    makeOutbox(): unknown;
    proveOwned(): Promise<void>;
    outbox: unknown;
    chain: { commit(batch: CommitBatch): Promise<void> } | null;
  };
  ownership: { ports: { store: FakeStore } };
}

const insideOf = (host: Host): Insides => host as unknown as Insides;

/** What a worker lends is lent for everybody. */
function lendsForEverybody(host: Host): void {
  alterCommands(host, (command) => (command.kind === 'LendSlots' ? { ...command, tenants: null } : command));
}

/** The engine never hears that a tenant is suspended. */
function ignoresSuspension(host: Host): void {
  alterCommands(host, (command) => {
    if (command.kind !== 'SetTenants') return command;
    return { ...command, tenants: command.tenants.map((tenant) => ({ ...tenant, isSuspended: false })) };
  });
}

/** What was counted under quotas is lost when a shard changes hands. */
function forgetsCounts(host: Host): void {
  altersLoads(host, (heads) => {
    const rateStarts = heads.tables.rateStarts.filter(({ limit }) => !limit.startsWith('quota/'));
    return { ...heads, tables: { ...heads.tables, rateStarts } };
  });
}

/** A new owner does not know which dags are halted. */
function forgetsHalts(host: Host): void {
  altersLoads(host, (heads) => ({ ...heads, tables: { ...heads.tables, haltedDags: [] } }));
}

/** Nothing is counted before a submission is carried out: what several ask for at once is all let through. */
function countsAfterwards(host: Host): void {
  alterCommands(host, (command) => (command.kind === 'TakeQuota' ? { ...command, count: 0 } : command));
}

/** The engine never hears that something is frozen. */
function ignoresFreezes(host: Host): void {
  alterCommands(host, (command) => (command.kind === 'SetFrozen' ? { ...command, frozen: [] } : command));
}

/** All workers seem to have the labels that anybody asks for. */
function ignoresLabels(host: Host): void {
  alterCommands(host, (command) => {
    if (command.kind !== 'LendSlots' || command.traits === undefined) return command;
    return { ...command, traits: { ...command.traits, labels: { disk: 'ssd' } } };
  });
}

/** What a worker has is lent as if it had twice as much. */
function countsResourcesTwice(host: Host): void {
  alterCommands(host, (command) => {
    if (command.kind !== 'LendSlots' || command.room === undefined) return command;
    const room = Object.fromEntries(Object.entries(command.room).map(([name, amount]) => [name, 2 * amount]));
    return { ...command, room };
  });
}

/** Resources that go with lent slots get lost on the way. */
function losesResources(host: Host): void {
  alterCommands(host, (command) => (command.kind === 'LendSlots' ? { ...command, room: {} } : command));
}

/** Whoever has begun is told to make room, whatever its class. */
function preemptsAnybody(host: Host): void {
  const { ports } = insideOf(host).turns;
  const send = ports.onEffects;
  ports.onEffects = (effects) => {
    const kills = (effects as readonly Effect[]).flatMap((effect) => {
      if (effect.kind !== 'SendAssignment') return [];
      const { gateway, workerId, claim } = effect;
      return [{ kind: 'KillAttempt', gateway, workerId, claim, reason: 'preempted', graceMs: 100 }];
    });
    send([...effects, ...kills]);
  };
}

function alterCommands(host: Host, alter: (command: Command) => Command): void {
  const { inbox } = insideOf(host).turns;
  const offer = inbox.offer.bind(inbox);
  inbox.offer = (envelope) => offer({ ...envelope, command: alter(envelope.command) });
}

/** Whatever is sent leaves at once; only failures wait. */
function sendsBeforeTheCommit(host: Host): void {
  const { turns } = insideOf(host);
  const makeOutbox = turns.makeOutbox.bind(turns);
  turns.makeOutbox = () => {
    const outbox = makeOutbox() as { sendAfter(leaving: { committed: Promise<void>; send: () => void }): void };
    const sendAfter = outbox.sendAfter.bind(outbox);
    outbox.sendAfter = (leaving) => {
      leaving.send();
      sendAfter({ ...leaving, send: () => undefined });
    };
    return outbox;
  };
  turns.outbox = turns.makeOutbox();
}

/** A batch without changes does not wait for those before it. */
function answersOutOfOrder(host: Host): void {
  const { turns } = insideOf(host);
  const makeOutbox = turns.makeOutbox.bind(turns);
  turns.makeOutbox = () => {
    const outbox = makeOutbox() as { sendAfter(leaving: { committed: Promise<void>; send: () => void }): void };
    const sendAfter = outbox.sendAfter.bind(outbox);
    outbox.sendAfter = (leaving) => {
      let isSent = false;
      const sendOnce = () => {
        if (!isSent) leaving.send();
        isSent = true;
      };
      leaving.committed.then(sendOnce, () => undefined);
      sendAfter({ ...leaving, send: sendOnce });
    };
    return outbox;
  };
  turns.outbox = turns.makeOutbox();
}

/** A checkpoint counts for whichever attempt of the task runs. */
function savesForAnyToken(host: Host): void {
  const { turns } = insideOf(host);
  const offer = turns.inbox.offer.bind(turns.inbox);
  turns.inbox.offer = (envelope) => {
    const { command } = envelope;
    const state = turns.current();
    if (command.kind !== 'SaveCheckpoint' || state === null) return offer(envelope);
    const run = state.runs.find(command.claim.runId);
    if (run < 0) return offer(envelope);
    const slot = slotIn(state, run, command.claim.taskNo);
    const [fence, attemptNo] = [state.tasks.fence[slot], state.tasks.attemptNo[slot]];
    const claim = { ...command.claim, fence, attemptNo } as typeof command.claim;
    return offer({ ...envelope, command: { ...command, claim } });
  };
}

/** Nobody remembers which checkpoint of a task is the newest. */
function forgetsCheckpoints(host: Host): void {
  const { turns } = insideOf(host);
  const offer = turns.inbox.offer.bind(turns.inbox);
  turns.inbox.offer = (envelope) => {
    if (envelope.command.kind === 'SaveCheckpoint') turns.current()?.runs.checkpoints.clear();
    return offer(envelope);
  };
}

/** Before each batch is decided. */
function beforeEachBatch(host: Host, alter: (state: State) => void): void {
  const { turns } = insideOf(host);
  const decide = turns.decide.bind(turns);
  turns.decide = (...parts) => {
    const state = turns.current();
    if (state !== null) alter(state);
    decide(...parts);
  };
}

/** A run has ended when its outcome is fixed and nothing of it runs, whatever is left to close it. */
function endsBeforeItIsClosed(host: Host): void {
  beforeEachBatch(host, ({ runs }) => {
    for (const run of runs.rows()) if (runs.phase[run] === 1) runs.closingLeft[run] = 0;
  });
}

/** A report counts for whichever attempt of the task runs. */
function takesAnyToken(host: Host): void {
  const { turns } = insideOf(host);
  const offer = turns.inbox.offer.bind(turns.inbox);
  turns.inbox.offer = (envelope) => {
    const { command } = envelope;
    const state = turns.current();
    if (command.kind !== 'ReportAttempt' || state === null) return offer(envelope);
    const run = state.runs.find(command.claim.runId);
    if (run < 0) return offer(envelope);
    const slot = slotIn(state, run, command.claim.taskNo);
    const [fence, attemptNo] = [state.tasks.fence[slot], state.tasks.attemptNo[slot]];
    const claim = { ...command.claim, fence, attemptNo } as typeof command.claim;
    return offer({ ...envelope, command: { ...command, claim } });
  };
}

/** What loads say is altered before the host has it. */
function altersLoads(host: Host, alter: (heads: LoadedHeads) => LoadedHeads): void {
  const { store } = insideOf(host).ownership.ports;
  const loadHeads = store.loadHeads.bind(store);
  store.loadHeads = async (shards, perPriority) => alter(await loadHeads(shards, perPriority));
}

/** A new owner decides windows as if the few runs that it has loaded were all of their dag. */
function takesFewRunsForAll(host: Host): void {
  const { turns, ownership } = insideOf(host);
  for (const { ports } of [turns, ownership]) Object.assign(ports, { loadSizes: { heads: 1, restPerTurn: 1 } });
  const decide = turns.decide.bind(turns);
  turns.decide = (...parts) => {
    const partial = turns.current()?.partial;
    if (partial !== undefined) partial.get = () => undefined;
    decide(...parts);
  };
}

function forgetsHeldEvents(host: Host): void {
  altersLoads(host, (heads) => ({ ...heads, tables: { ...heads.tables, heldEvents: [] } }));
}

/** A new owner does not know which assets its dags have taken. */
function forgetsTakenAssets(host: Host): void {
  altersLoads(host, (heads) => ({ ...heads, tables: { ...heads.tables, assetInputs: [] } }));
}

/** A new owner does not know what its dags expect. */
function forgetsExpectations(host: Host): void {
  altersLoads(host, (heads) => ({ ...heads, tables: { ...heads.tables, expectations: [] } }));
}

/** A new home of a limit does not know what it has given. */
function forgetsGrants(host: Host): void {
  altersLoads(host, (heads) => ({ ...heads, tables: { ...heads.tables, grants: [] } }));
}

/** A new owner does not know which budgets were told as crossed. */
function forgetsCrossings(host: Host): void {
  altersLoads(host, (heads) => ({ ...heads, tables: { ...heads.tables, budgetCrossings: [] } }));
}

/** A shard claims whether it has a slot or not. */
function claimsWithoutSlots(host: Host): void {
  beforeEachBatch(host, ({ limits }) => {
    for (const hold of limits.all()) hold.hasRoom = () => true;
  });
}

/** Shards use slots of starts over several dags for one attempt after another. */
function forgetsStarts(host: Host): void {
  beforeEachBatch(host, ({ limits }) => {
    for (const hold of limits.all()) if (hold.name.startsWith('starts/')) hold.count = () => undefined;
  });
}

/** Tasks of others take slots that are kept for somebody. */
function takesKeptSlots(host: Host): void {
  beforeEachBatch(host, ({ limits }) => {
    for (const hold of limits.all()) if (hold.name.startsWith('kept/')) hold.hasRoom = () => true;
  });
}

/** More slots are counted than workers have: others are left what is kept. */
function countsTooManySlots(host: Host): void {
  const { fleet } = host as unknown as { fleet: { capacity(of: unknown): Promise<readonly number[] | null> } };
  const capacity = fleet.capacity.bind(fleet);
  fleet.capacity = async (of) => (await capacity(of))?.map((slots) => slots + 10) ?? null;
}

/** Limits of tasks and runs hold back nobody. */
function ignoresOwnLimits(host: Host): void {
  beforeEachBatch(host, ({ dags }) => {
    for (const { lanes } of dags.byId.values())
      for (const lane of [...lanes.values()].flat()) for (const { hold } of lane?.own ?? []) hold.hasRoom = () => true;
  });
}

/** Attempts start however many have started before. */
function ignoresRates(host: Host): void {
  beforeEachBatch(host, ({ dags }) => {
    for (const { lanes } of dags.byId.values())
      for (const { hold } of [...lanes.values()].flat().flatMap((lane) => lane?.holds ?? []))
        if (hold.name.startsWith('rate/')) hold.hasRoom = () => true;
  });
}

/** A slot that is in use is given back. */
function returnsUsedSlots(host: Host): void {
  beforeEachBatch(host, ({ limits }) => {
    for (const hold of limits.all()) hold.used = 0;
  });
}

/** Word of fresh assets reaches nobody. */
function findsNoDagOnAssets(host: Host): void {
  const { store } = insideOf(host).ownership.ports;
  store.dagsOnAsset = async () => [];
}

/** No window has one before it: what depends on the past never waits. */
function forgetsThePast(host: Host): void {
  const { store } = insideOf(host).turns.ports;
  const fetch = store.fetch.bind(store);
  store.fetch = async (needs) => {
    const seen = await fetch(needs);
    return { ...seen, pasts: seen.pasts.map((past) => ({ ...past, found: null })) };
  };
}

/** Whatever a window requires is taken for met. */
function takesRequirementsForMet(host: Host): void {
  const { store } = insideOf(host).turns.ports;
  const fetch = store.fetch.bind(store);
  store.fetch = async (needs) => {
    const seen = await fetch(needs);
    return { ...seen, requirements: seen.requirements.map((one) => ({ ...one, isMet: true })) };
  };
}

function forgetsInstances(host: Host): void {
  const { turns } = insideOf(host);
  const [decide, forget] = [turns.decide.bind(turns), forgetsOneInstance(new Set())];
  turns.decide = (...parts) => {
    decide(...parts);
    const state = turns.current();
    if (state !== null) forget(state);
  };
}

/** A new owner knows nothing of maps that have expanded. */
function forgetsMaps(host: Host): void {
  altersLoads(host, (heads) => ({ ...heads, runs: heads.runs.map(({ maps: _maps, ...run }) => run) }));
}

/** Whoever of two reports is taken for the only one: what the other says later counts as well. */
function countsBoth(host: Host): void {
  const { turns } = insideOf(host);
  const offer = turns.inbox.offer.bind(turns.inbox);
  turns.inbox.offer = (envelope) => {
    const state = turns.current();
    if (envelope.command.kind === 'ReportAttempt' && state !== null) {
      const { nextOfTask } = state.attempts;
      for (let one = 0; one < nextOfTask.length; one++) nextOfTask[one as AttemptSlot] = -1 as AttemptSlot;
    }
    return offer(envelope);
  };
}

/** What was added to a run is added again by whoever says it again. */
function addsTwice(host: Host): void {
  const { turns } = insideOf(host);
  const decide = turns.decide.bind(turns);
  turns.decide = (...parts) => {
    const state = turns.current();
    const commands = (parts[1] as { command: Command }[]).map(({ command }) => command);
    const putBack = state === null ? () => undefined : hidesAdded(state, commands);
    decide(...parts);
    putBack();
  };
}

/** A new owner knows nothing of what was added. */
function forgetsAdded(host: Host): void {
  altersLoads(host, (heads) => ({ ...heads, runs: heads.runs.map(({ added: _added, ...run }) => run) }));
}

/** The limits of dags are not looked at. */
function ignoresLimits(host: Host): void {
  const { turns } = insideOf(host);
  const decide = turns.decide.bind(turns);
  turns.decide = (...parts) => {
    for (const dag of turns.current()?.dags.byId.values() ?? []) dag.hasRoomForTask = () => true;
    decide(...parts);
  };
}

/** A task is tried again at once, whatever its backoff. */
function retriesAtOnce(host: Host): void {
  const { turns } = insideOf(host);
  const decide = turns.decide.bind(turns);
  const patched = new WeakSet<State>();
  turns.decide = (...parts) => {
    const state = turns.current();
    if (state !== null && !patched.has(state)) {
      patched.add(state);
      const { timers } = state;
      const push = timers.push.bind(timers);
      timers.push = (timer) => push(timer.kind === 'retry' ? { ...timer, at: state.mono } : timer);
    }
    decide(...parts);
  };
}

/** Attempts that ended are still counted: the count is off by one for each report. */
function countsTwice(host: Host): void {
  const { turns } = insideOf(host);
  const decide = turns.decide.bind(turns);
  turns.decide = (...parts) => {
    decide(...parts);
    for (const dag of turns.current()?.dags.byId.values() ?? []) if (dag.runningTasks > 1) dag.runningTasks += 1;
  };
}

/** What was recorded of a batch is told to nobody else: a change is dropped on its way to the database. */
function losesChanges(host: Host, isLost: (change: Change) => boolean): void {
  const { store } = insideOf(host).ownership.ports;
  const openChain = store.openChain.bind(store);
  store.openChain = async (nodeId) => {
    const chain = await openChain(nodeId);
    const commit = chain.commit.bind(chain);
    chain.commit = (batch) => commit({ ...batch, changes: batch.changes.filter((change) => !isLost(change)) });
    return chain;
  };
}

/** What is stored of a change is not what was decided. */
function altersChanges(host: Host, alter: (change: Change) => Change): void {
  const { store } = insideOf(host).ownership.ports;
  const openChain = store.openChain.bind(store);
  store.openChain = async (nodeId) => {
    const chain = await openChain(nodeId);
    const commit = chain.commit.bind(chain);
    chain.commit = (batch) => commit({ ...batch, changes: batch.changes.map(alter) });
    return chain;
  };
}

/** A changed priority is in memory only. */
function storesOldPriorities(host: Host): void {
  altersChanges(host, (change) => (change.kind === 'PrioritySet' ? { ...change, priority: change.before } : change));
}

/** That a run waits until others have ended is in memory only. */
function forgetsThatRunsWait(host: Host): void {
  altersChanges(host, (change) => {
    if (change.kind !== 'RunCreated') return change;
    const { waits: _, ...rest } = change;
    return rest;
  });
}

/** A dead letter is written twice, by a host that sends some changes again. */
function writesDeadLettersTwice(host: Host): void {
  const { store } = insideOf(host).ownership.ports;
  const openChain = store.openChain.bind(store);
  store.openChain = async (nodeId) => {
    const chain = await openChain(nodeId);
    const commit = chain.commit.bind(chain);
    const twice = (change: Change): Change[] => (change.kind === 'DeadLetterWritten' ? [change, change] : [change]);
    chain.commit = (batch) => commit({ ...batch, changes: batch.changes.flatMap(twice) });
    return chain;
  };
}

/** Retries that wait behind a breaker are let go at once. */
function opensBreakers(host: Host): void {
  const { turns } = insideOf(host);
  const decide = turns.decide.bind(turns);
  turns.decide = (...parts) => {
    for (const breaker of turns.current()?.breakers.all() ?? []) breaker.tryPass = () => true;
    decide(...parts);
  };
}

/** A task that is tried again gets the number of the claim before it: whoever holds the old token holds the task. */
function leavesOldTokensValid(host: Host): void {
  const { turns } = insideOf(host);
  const decide = turns.decide.bind(turns);
  turns.decide = (...parts) => {
    const state = turns.current();
    const retried = (parts[1] as { command: Command }[]).flatMap(({ command }) =>
      command.kind === 'RetryTask' ? [command] : [],
    );
    const fences = retried.map(({ runId, taskNo }) => fenceOf(state, runId, taskNo));
    decide(...parts);
    retried.forEach(({ runId, taskNo }, i) => {
      const { slot, fence } = fenceOf(state, runId, taskNo);
      // Cleared, and not claimed in the same step.
      const isWaiting = slot !== null && state?.tasks.state[slot] === READY && fence === (fences[i]?.fence ?? fence);
      if (isWaiting && fence > 0) state.tasks.fence[slot]! -= 1;
    });
  };
}

const READY = 1;

function fenceOf(state: State | null, runId: number, taskNo: number): { slot: TaskSlot | null; fence: number } {
  const run = state?.runs.find(runId as never);
  if (state === null || run === undefined || run < 0) return { slot: null, fence: 0 };
  const slot = slotIn(state, run, taskNo);
  return { slot, fence: state.tasks.fence[slot] ?? 0 };
}

/** What lies behind a task that is cleared is forgotten. */
function forgetsDependents(host: Host): void {
  const { turns } = insideOf(host);
  const offer = turns.inbox.offer.bind(turns.inbox);
  turns.inbox.offer = (envelope) => {
    const { command } = envelope;
    if (command.kind !== 'ClearTasks') return offer(envelope);
    return offer({ ...envelope, command: { ...command, select: { ...command.select, downstream: false } } });
  };
}

/** Retired, but its schedule stays, in memory and in the database. */
function keepsRemovedSchedules(host: Host): void {
  const { turns } = insideOf(host);
  const decide = turns.decide.bind(turns);
  turns.decide = (...parts) => {
    const state = turns.current();
    const before = [...(state?.schedules.values() ?? [])];
    decide(...parts);
    for (const schedule of before) if (state?.schedules.get(schedule.id) === undefined) state?.schedules.put(schedule);
  };
  losesChanges(host, (change) => change.kind === 'ScheduleRemoved');
}

/** Delayed runs begin before their time. */
function beginsEarly(host: Host): void {
  const { turns } = insideOf(host);
  const offer = turns.inbox.offer.bind(turns.inbox);
  turns.inbox.offer = (envelope) => {
    const { command } = envelope;
    if (command.kind !== 'SubmitRuns') return offer(envelope);
    const early = ({ at, ...item }: (typeof command.items)[number]) =>
      at === undefined ? item : { ...item, at: (at - 3_000) as Instant };
    return offer({ ...envelope, command: { ...command, items: command.items.map(early) } });
  };
}

/** The newest windows are decided once more. */
function forgetsDecided(host: Host): void {
  altersFetched(host, (one) => ({ ...one, decidedUntil: (one.decidedUntil - 60_000) as Instant }));
}

/** Nobody knows what the zone data of before said. Newer data comes while times of the day have just fired that are later by it. */
function forgetsOldZones(world: World): void {
  Object.assign(world.settings, { zoneDataOf: () => null });
  Object.assign(world.zones, { laterMs: 15_000 });
  world.events.in(25_000, () => useNewerZones(world));
}

/** Schedules that come from the database have lost a part. */
function altersFetched(host: Host, alter: (one: StoredSchedule) => StoredSchedule): void {
  const { store } = insideOf(host).turns.ports;
  const fetch = store.fetch.bind(store);
  store.fetch = async (needs) => {
    const seen = await fetch(needs);
    return { ...seen, schedules: seen.schedules.map(alter) };
  };
}

function altersSchedules(host: Host, alter: (spec: ScheduleSpec) => ScheduleSpec): void {
  const altered = <T extends { readonly spec: ScheduleSpec }>(one: T): T => ({ ...one, spec: alter(one.spec) });
  altersFetched(host, altered);
  altersLoads(host, (heads) => ({ ...heads, schedules: heads.schedules.map(altered) }));
}

function ignoresJitter(host: Host): void {
  altersSchedules(host, ({ jitterMs: _, ...spec }) => ({ ...spec, jitterMs: 0 }));
}

function ignoresLimitsOfSchedules(host: Host): void {
  altersSchedules(host, ({ limit: _, ...spec }) => spec);
}

/** The database takes a window, and a run of it, as often as it is given one. */
function dropsWindowKeys({ database: { tables } }: World): void {
  for (const table of [tables.windows, tables.runUids]) table.has = () => false;
}

/** A worker dies for good, and every few seconds all shards change hands. */
function ownersFlap(world: World): void {
  const { events, database } = world;
  events.in(9_000, () => {
    for (const worker of world.workers.slice(0, 1)) {
      worker.isWanted = false;
      worker.crash('kill');
    }
  });
  const stranger = new FakeStore(database, { name: 'stranger' });
  for (let at = 15_000; at < 80_000; at += 11_000) {
    events.in(at, () => {
      const shards = [...database.tables.shards.values()].map(({ shard, epoch }) => ({ shard, seenEpoch: epoch }));
      const request = { nodeId: 'stranger.1' as NodeId, shards, lockTimeoutMs: 500, windowGraceMs: 10_000 };
      stranger.takeShards(request).catch(() => undefined);
    });
  }
}

/** Nobody works any more, so that all waits for its time to be over; and owners come and go faster than that. */
function ownersFlapWithoutWorkers(world: World): void {
  ownersFlap(world);
  world.events.in(9_000, () => {
    for (const worker of world.workers) {
      worker.isWanted = false;
      worker.crash('kill');
    }
  });
}

/** What a load says began long ago begins with the load. */
function startsTimesOver(host: Host): void {
  const later = 4_000_000_000_000 as Instant;
  altersLoads(host, (heads) => ({
    ...heads,
    runs: heads.runs.map((run) => ({ ...run, ...(run.admittedAt !== undefined && { admittedAt: later }) })),
  }));
}

/**
 * One node after the other stands still for so long that the next one takes its shards. Meanwhile schedules are paused there;
 * the first that the node hears when it goes on is that they should not be, which its memory says is so.
 */
function loopsStandStill(world: World): void {
  const { events, nodes } = world;
  for (let at = 6_000, i = 0; at < 80_000; at += 7_000, i++) {
    const node = nodes[i % nodes.length];
    if (node === undefined) continue;
    const other = () => nodes.find((one) => one !== node && one.isUp);
    events.in(at, () => node.block());
    events.in(at + 5_000, () => setPaused(world, other(), true));
    events.in(at + 5_400, () => setPaused(world, node, false));
    events.in(at + 5_500, () => node.resume(true));
    events.in(at + 6_300, () => setPaused(world, other(), false));
  }
}

/** Nobody may submit much, again and again: in most histories nobody has a quota. */
function limitsSubmissions(world: World): void {
  const { events, nodes, tenants } = world;
  const actor = 'token:test' as Actor;
  for (let at = 1_600; at < 20_000; at += 4_000) {
    events.in(at, () => {
      const node = nodes.find((one) => one.isUp);
      for (const tenantId of tenants.ids) {
        const ofQuota = { shard: quotaHome(tenantId), tenantId, quota: 'submits', actor } as const;
        askFor(world, node, { kind: 'SetQuota', ...ofQuota, soft: null, hard: 2 });
      }
    });
  }
}

let askCount = 0;

type Node = World['nodes'][number] | undefined;

/** Asks a node about every schedule that there is, one by one: what it does not have in memory it would read, and see the truth. */
function setPaused(world: World, node: Node, paused: boolean): void {
  const tenantId = 1 as TenantId;
  const actor = 'token:test' as Actor;
  for (const { shard, dagId, name } of world.database.tables.schedules.values())
    askFor(world, node, { kind: 'SetSchedulePaused', shard, tenantId, dagId, name, paused, actor });
}

/** Again and again the first task of a run is cleared, with all that depends on it. */
function clearsOften(world: World): void {
  const { events, nodes, database } = world;
  const select = { tasks: [0 as TaskNo], states: null, downstream: true, upstream: false };
  for (let at = 5_000; at < 50_000; at += 700) {
    events.in(at, () => {
      const run = [...database.tables.runs.values()].findLast(({ phase }) => phase === 'ended');
      const node = nodes.find((one) => one.isUp);
      if (run === undefined) return;
      const { tenantId, runId } = run;
      const actor = 'token:test' as Actor;
      askFor(world, node, { kind: 'ClearTasks', tenantId, runId, select, force: true, dryRun: false, actor });
    });
  }
}

/** For all to see. */
function askFor({ history, events }: World, node: Node, command: Command): void {
  node?.process.deliver(() => {
    askCount += 1;
    const asked = { no: -askCount, client: 'test', node: node.machine, command, deadlineMs: 2_000, at: events.now() };
    history.add({ kind: 'asked', ask: asked });
    void node.host?.ask(command, asked.deadlineMs).then((result) => {
      if (node.process.isAlive) history.add({ kind: 'told', ask: asked, result });
    });
  });
}

/** The owner takes every key for free. */
function admitsAnyKey(host: Host): void {
  const { turns } = insideOf(host);
  const decide = turns.decide.bind(turns);
  turns.decide = (...parts) => {
    const state = turns.current();
    for (const dag of state?.dags.byId.values() ?? [])
      for (const [, key] of state?.runKeys.of(dag.id) ?? []) key.hasRoom = () => true;
    decide(...parts);
  };
}

/** After each step: the tasks of the working set, one by one. */
function altersTasks(host: Host, alter: (tasks: State['tasks'], slot: TaskSlot) => void): void {
  const { turns } = insideOf(host);
  const decide = turns.decide.bind(turns);
  turns.decide = (...parts) => {
    const tasks = turns.current()?.tasks;
    decide(...parts);
    if (tasks === undefined) return;
    for (let slot = 0 as TaskSlot; slot < tasks.run.length; slot++) if (tasks.run[slot]! >= 0) alter(tasks, slot);
  };
}

/** Members of a gang are claimed one by one, as items of a map are. */
function startsHalfGangs(host: Host): void {
  const { turns } = insideOf(host);
  const decide = turns.decide.bind(turns);
  const altered = new WeakSet<object>();
  turns.decide = (...parts) => {
    const queues = turns.current()?.queues;
    if (queues !== undefined && !altered.has(queues)) {
      altered.add(queues);
      const find = queues.getOrAdd.bind(queues);
      queues.getOrAdd = (tenantId, name, request) => {
        if (request == null) return find(tenantId, name);
        const { gang: _apart, ...alone } = request;
        return find(tenantId, name, alone);
      };
    }
    decide(...parts);
  };
}

const BLOCKED = 0;

/** The end of a task is counted down twice for those that still wait for others. */
function countsDownTwice(host: Host): void {
  const unmet = new Map<number, number>();
  altersTasks(host, (tasks, slot) => {
    const [last, now] = [unmet.get(slot) ?? 0, tasks.unmet[slot]!];
    if (tasks.state[slot] === BLOCKED && now > 1 && now < last) tasks.unmet[slot]! -= 1;
    unmet.set(slot, tasks.unmet[slot]!);
  });
}

/** That a task upstream was skipped is not remembered: it counts as if it had succeeded. */
function forgetsSkipped(host: Host): void {
  altersTasks(host, (tasks, slot) => {
    if (tasks.state[slot] === BLOCKED) tasks.upSkipped[slot] = 0;
  });
}

/** What leaves the engine is altered before it is sent, or left out. */
function altersEffects(host: Host, alter: (effect: Effect) => Effect | null): void {
  const { ports } = insideOf(host).turns;
  const send = ports.onEffects;
  ports.onEffects = (effects) => send((effects as readonly Effect[]).flatMap((effect) => alter(effect) ?? []));
}

/** A call has another name each time that it is sent. */
function callsUnderFreshNames(host: Host): void {
  let count = 0;
  altersEffects(host, (effect) => {
    if (effect.kind !== 'SendCall') return effect;
    count += 1;
    return { ...effect, claimedAt: (effect.claimedAt + count) as typeof effect.claimedAt };
  });
}

/** What became of a call is not asked for: word of it is told once, and may be lost. */
function neverAsksAgain(host: Host): void {
  altersEffects(host, (effect) => (effect.kind === 'SendCall' && effect.step !== 'begin' ? null : effect));
}

/** A call ends with its run, whatever became of the run that it made. */
function leavesChildrenAlone(host: Host): void {
  const { turns } = insideOf(host);
  altersEffects(host, (effect) => {
    if (effect.kind !== 'SendCall' || effect.step !== 'stop') return effect;
    const { claim } = effect;
    turns.inbox.offer({
      command: { kind: 'ChildEnded', claim, end: 'unbegun', output: null, error: null },
      reply: null,
    } as Parameters<typeof turns.inbox.offer>[0]);
    return null;
  });
}

const CASES: readonly Case[] = [
  { what: 'whom a slot is for', within: 60, shownBy: 14, expected: /^I65/, onHost: lendsForEverybody },
  { what: 'the labels of workers', within: 60, expected: /^I24/, onHost: ignoresLabels },
  { what: 'one count of resources', within: 100, expected: /^I24/, onHost: countsResourcesTwice },
  { what: 'resources that are lent', within: 60, mode: 'liveness', expected: /^(I29|I72)/, onHost: losesResources },
  { what: 'claims of whole gangs', within: 100, expected: /^I24/, onHost: startsHalfGangs },
  { what: 'classes in preemption', within: 20, expected: /^I49/, onHost: preemptsAnybody },
  { what: 'what is frozen', within: 100, shownBy: 4, expected: /^I46/, onHost: ignoresFreezes },
  { what: 'what is counted under quotas', within: 200, shownBy: 14, expected: /^(I50|I19)/, onHost: forgetsCounts },
  { what: 'halted dags', within: 200, expected: /^(I46|I19)/, onHost: forgetsHalts },
  {
    what: 'counting before a run is created',
    within: 60,
    expected: /^I50/,
    onWorld: limitsSubmissions,
    onHost: countsAfterwards,
  },
  { what: 'suspended tenants', within: 100, shownBy: 16, expected: /^I46/, onHost: ignoresSuspension },
  {
    what: 'the epoch check',
    within: 60,
    shownBy: 31,
    expected: /^(I14|D1)/,
    sabotage: { epochCheck: false, commitNoCheck: false },
  },
  { what: 'the check of tokens', within: 60, shownBy: 14, expected: /^(I21|I22|I36|I39|D3)/, onHost: takesAnyToken },
  {
    what: 'the token of checkpoints',
    within: 60,
    shownBy: 14,
    expected: /^(I15|I21|I22|I36)/,
    onHost: savesForAnyToken,
  },
  { what: 'the numbers of checkpoints', within: 60, expected: /^(I19|I22|I36)/, onHost: forgetsCheckpoints },
  { what: 'waiting for the commit', within: 20, expected: /^(I10|I15|I16|I21)/, onHost: sendsBeforeTheCommit },
  {
    what: 'the order of answers',
    within: 300,
    shownBy: 16,
    expected: /^(I10|I11|I15|I16|I17|I21)/,
    onHost: answersOutOfOrder,
  },
  {
    what: 'the memory of silent workers',
    within: 100,
    shownBy: 4,
    expected: /^I25/,
    onWorld: ownersFlap,
    lengthMs: 50_000,
    onHost: (host) =>
      altersLoads(host, (heads) => ({
        ...heads,
        shards: heads.shards.map((shard) => ({ ...shard, silentWorkers: [] })),
      })),
  },
  {
    what: 'the proof that a shard is still owned',
    within: 200,
    shownBy: 28,
    expected: /^(I16|I17|I21)/,
    onWorld: loopsStandStill,
    lengthMs: 50_000,
    onHost: (host) => {
      insideOf(host).turns.proveOwned = () => Promise.resolve();
    },
  },
  {
    what: 'the instants that timeouts count from',
    within: 100,
    shownBy: 14,
    expected: /^I41/,
    onWorld: ownersFlapWithoutWorkers,
    lengthMs: 50_000,
    onHost: startsTimesOver,
  },
  { what: 'the limits of dags', within: 40, shownBy: 4, expected: /^I44/, onHost: ignoresLimits },
  { what: 'the memory of slots that were given', within: 60, expected: /^(I44|I45|I19)/, onHost: forgetsGrants },
  { what: 'slots of limits that span shards', within: 40, expected: /^I44/, onHost: claimsWithoutSlots },
  {
    what: 'the memory of who has a key',
    within: 60,
    expected: /^(I7|I19|I45)/,
    onHost: (host) => altersLoads(host, (heads) => ({ ...heads, tables: { ...heads.tables, runKeys: [] } })),
  },
  {
    what: 'the memory of budgets that were crossed',
    within: 12,
    expected: /^(I61|I19)/,
    onHost: forgetsCrossings,
  },
  { what: 'the limit of runs with one key', within: 40, expected: /^I7/, onHost: admitsAnyKey },
  { what: 'limits of tasks and runs', within: 60, expected: /^I44/, onHost: ignoresOwnLimits },
  { what: 'starts per time over several dags', within: 150, expected: /^(I44|I19)/, onHost: forgetsStarts },
  { what: 'slots that are kept for others', within: 60, expected: /^I44/, onHost: takesKeptSlots },
  { what: 'counting the slots that workers have', within: 150, expected: /^I44/, onHost: countsTooManySlots },
  { what: 'counting the slots in use', within: 40, expected: /^(I44|I45)/, onHost: returnsUsedSlots },
  { what: 'backoffs', within: 60, expected: /^I40/, onHost: retriesAtOnce },
  { what: 'the counts of dags', within: 40, expected: /^(I45|I29)/, onHost: countsTwice },
  { what: 'the end of old tokens at a retry', within: 60, expected: /^(D1|I19|I20|I21)/, onHost: leavesOldTokensValid },
  {
    what: 'what depends on a task that is cleared',
    within: 40,
    shownBy: 5,
    expected: /^I37/,
    onWorld: clearsOften,
    onHost: forgetsDependents,
    lengthMs: 30_000,
  },
  { what: 'the end of schedules that are removed', within: 60, expected: /^(I1|I6) /, onHost: keepsRemovedSchedules },
  { what: 'the time of delayed runs', within: 60, expected: /^(I4|I10)/, onHost: beginsEarly },
  {
    what: 'the end of the wait of a delayed run',
    within: 60,
    expected: /^I1 /,
    onHost: (host) => losesChanges(host, (change) => change.kind === 'ScheduleRemoved' && change.name.length === 36),
  },
  {
    what: 'the memory of delayed runs',
    within: 60,
    expected: /^(D1|I10|I13)/,
    onHost: (host) => losesChanges(host, (change) => change.kind === 'ScheduleSet' && change.spec.run !== undefined),
  },
  {
    what: 'the record of skipped windows',
    within: 60,
    // A delayed run whose window is skipped leaves nothing but that record.
    expected: /^(I2|I10|I19)/,
    onHost: (host) => losesChanges(host, (change) => change.kind === 'WindowDecided' && change.skipped !== null),
  },
  {
    what: 'the reason of unmet windows',
    within: 100,
    shownBy: 57,
    expected: /^I2/,
    onHost: (host) => losesChanges(host, (change) => change.kind === 'WindowSkipped'),
  },
  {
    what: 'the memory of decided windows',
    within: 60,
    expected: /^(I1|I2|I19|D1)/,
    onHost: forgetsDecided,
  },
  {
    what: 'waiting for runs to be loaded',
    within: 100,
    expected: /^I7/,
    onWorld: ownersFlap,
    lengthMs: 80_000,
    onHost: takesFewRunsForAll,
  },
  {
    what: 'the unique keys of windows, by a load that forgets what is decided,',
    within: 60,
    expected: /^(I1|I2)/,
    onWorld: dropsWindowKeys,
    onHost: forgetsDecided,
  },
  {
    what: 'the zone data by which times of the day were decided',
    within: 100,
    expected: /^I3 /,
    onWorld: forgetsOldZones,
    lengthMs: 50_000,
  },
  { what: 'the jitter of schedules', within: 60, expected: /^(I4|I19) /, onHost: ignoresJitter },
  { what: 'the limit of schedules', within: 100, expected: /^(I2|I19)/, onHost: ignoresLimitsOfSchedules },
  { what: 'counting each upstream once', within: 60, expected: /^(I30|I19|D3)/, onHost: countsDownTwice },
  {
    what: 'the memory of skipped upstream',
    within: 300,
    shownBy: 148,
    expected: /^(I30|I19|I33|D3)/,
    onHost: forgetsSkipped,
  },
  { what: 'waiting for each instance of a map', within: 60, expected: /^(I30|I19|I33|D3)/, onHost: forgetsInstances },
  { what: 'the memory of maps', within: 60, expected: /^(I34|I19|I17|I16|D1|D3)/, onHost: forgetsMaps },
  { what: 'that one of two attempts counts', within: 150, shownBy: 14, expected: /^(I23|I21|I19)/, onHost: countsBoth },
  {
    what: 'the end of the attempt beside one that succeeded',
    within: 150,
    shownBy: 31,
    expected: /^(D1|I19|I21|I23)/,
    onHost: (host) =>
      losesChanges(host, (change) => change.kind === 'SpeculativeEnded' && change.code === 'superseded'),
  },
  { what: 'adding a task once', within: 60, expected: /^(I22|I38)/, onHost: addsTwice },
  {
    what: 'the memory of what was added',
    within: 100,
    shownBy: 3,
    expected: /^(I17|I19|I21|I22|I30|I32|I33|I36|D1|D3)/,
    onHost: forgetsAdded,
  },
  { what: 'the memory of events that wait', within: 100, expected: /^(I10|I16|I19|I53|D1)/, onHost: forgetsHeldEvents },
  { what: 'the memory of assets that were taken', within: 200, expected: /^(I11|I19|I10)/, onHost: forgetsTakenAssets },
  { what: 'the memory of expected events', within: 100, expected: /^(I6|I19|I53)/, onHost: forgetsExpectations },
  { what: 'the dags that wait for assets', within: 50, expected: /^I10/, onHost: findsNoDagOnAssets },
  { what: 'waiting for the window before', within: 100, expected: /^I30/, onHost: forgetsThePast },
  { what: 'what windows require', within: 60, shownBy: 17, expected: /^I30/, onHost: takesRequirementsForMet },
  { what: 'one name for each call', within: 20, shownBy: 11, expected: /^I11/, onHost: callsUnderFreshNames },
  {
    what: 'asking again for a call',
    within: 200,
    mode: 'liveness',
    expected: /^(I41|I42|I72)/,
    onHost: neverAsksAgain,
  },
  { what: 'the end of a child before its call', within: 60, expected: /^I42/, onHost: leavesChildrenAlone },
  { what: 'writing a letter once', within: 20, expected: /^(D1|I43)/, onHost: writesDeadLettersTwice },
  {
    what: 'the letter of what failed',
    within: 20,
    expected: /^I43/,
    onHost: (host) => losesChanges(host, ({ kind }) => kind === 'DeadLetterWritten'),
  },
  { what: 'what a breaker holds', within: 200, shownBy: 115, expected: /^I44/, onHost: opensBreakers },
  { what: 'waiting for what closes a run', within: 60, expected: /^(I33|I19|D3)/, onHost: endsBeforeItIsClosed },
  { what: 'starts per time', within: 60, expected: /^I44.* in \d+ ms/, onHost: ignoresRates },
  {
    what: 'the memory of starts per time',
    within: 60,
    expected: /^(I44|I19)/,
    onHost: (host) => losesChanges(host, ({ kind }) => kind === 'RateUsed'),
  },
  {
    what: 'the storing of priorities',
    within: 150,
    shownBy: 31,
    expected: /^(I19|I49|I65)/,
    onHost: storesOldPriorities,
  },
  {
    what: 'the mark of runs that wait for others',
    within: 20,
    expected: /^(I7|I19)/,
    onHost: forgetsThatRunsWait,
  },
  {
    what: 'one kind of change in the journal',
    within: 20,
    expected: /^(I7|I19|I45)/,
    onHost: (host) => losesChanges(host, ({ kind }) => kind === 'RunAdmitted'),
  },
];

test.each(CASES)('without $what a promise is broken within $within histories', { timeout: 600_000 }, async (broken) => {
  const { sabotage, onHost, onWorld, lengthMs, mode = 'safety', within, shownBy = 1, expected } = broken;
  const seeds = new Set([shownBy, ...Array.from({ length: within }, (_, no) => no + 1)]);
  for (const seed of seeds) {
    const simulation: Simulation = {
      seed,
      mode,
      ...(sabotage !== undefined && { sabotage }),
      ...(onHost !== undefined && { hooks: { onHost } }),
      ...(onWorld !== undefined && { onWorld }),
      ...(lengthMs !== undefined && { lengthMs }),
    };
    const outcome = await simulate(simulation);
    if (outcome.broken === null) continue;
    console.log(`without ${broken.what}: seed ${seed}: ${outcome.broken.invariant} ${outcome.broken.message}`);
    expect(`${outcome.broken.invariant} ${outcome.broken.message}`).toMatch(expected);
    return;
  }
  expect.fail(`nothing was found in ${within} histories`);
});
