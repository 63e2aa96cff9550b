/** K. Recovery: once faults have healed everything goes on by itself, and nothing is left behind. */
import {
  hasAmounts,
  misfitOf,
  NO_TRAITS,
  type PlacementSpec,
  PRIORITIES,
  type RunId,
  requestOf,
  type State,
  shardOfRun,
  type TaskNo,
  waitOf,
} from '@signalbox/engine';
import { LARGEST } from '../world/limits.ts';
import type { WorkerLife } from '../world/worker-life.ts';
import { isHeldByPast, isPaused, type RunBook } from './books.ts';
import type { Checker, Scene } from './checker.ts';
import { isHalted } from './g-halts.ts';
import { taskSpecOf } from './map-book.ts';
import { stateOf } from './task-states.ts';

const RECOVERY_MS = 30_000;
/**
 * A ready task that fits a free slot is claimed within a second; the slot must be known to be free, which takes a while more. Of each
 * limit over shards it waits for a turn of another shard, one after the other.
 */
const CLAIM_MS = 4_000;
/** A node that is told to load anew drops its memory in order, and serves its shards again within this time (I18). */
const RELOAD_MS = 1_000;
/** Of tasks that have not ended. */
const OPEN_STATES: ReadonlySet<string> = new Set(['blocked', 'ready', 'running', 'retrying', 'waiting']);
/** Longer than any worker is silent. */
const FORGOTTEN_MS = 4_000;

export function recovery(scene: Scene): Checker {
  const { ledger, world, health } = scene;
  /** Since when a task is ready and a slot for it free. */
  const waitingSince = new Map<string, number>();
  let healedAt: number | null = null;
  /** When the last fault began or ended. After all was healed, that is other zone data or jitter: each node loads anew. */
  let disturbedAt = 0;

  /** By tenant and queue: the workers that can take something. */
  function freeQueues(): Map<string, WorkerLife[]> {
    const free = new Map<string, WorkerLife[]>();
    for (const { life, process } of world.workers) {
      if (life === null || process.isPaused || !life.isConnected || life.phase !== 'working') continue;
      if (life.heldCount >= life.shape.slots) continue;
      if (world.tenants.frozen().some(({ kind, name }) => kind === 'worker' && name === life.workerId)) continue;
      for (const tenantId of life.shape.tenants ?? world.tenants.ids) {
        if (world.tenants.isSuspended(tenantId)) continue;
        for (const queue of life.shape.queues)
          if (!world.tenants.isQueueFrozen(tenantId, queue)) {
            const key = `${tenantId}/${queue}`;
            free.set(key, [...(free.get(key) ?? []), life]);
          }
      }
    }
    return free;
  }

  function checkConservation(): void {
    if (health.wellForMs() < RECOVERY_MS) return waitingSince.clear();
    const free = freeQueues();
    /** With the time that it may take. */
    const waiting = new Map<string, number>();
    const large = largeTasks();
    for (const run of ledger.live) {
      if (run.isSetAside || run.phase !== 'open') continue;
      if (!run.isAdmitted) {
        if (hasRoomForRun(run) && run.requires === null && !waitsForOthers(run))
          waiting.set(`run ${run.created.runId}`, CLAIM_MS);
        continue;
      }
      if (!hasRoomForTask(run) || isDagFrozen(run)) continue;
      run.spec.tasks.forEach(({ queue, placement }, no) => {
        const workers = free.get(`${run.created.tenantId}/${queue}`) ?? [];
        if (
          workers.some((life) => fits(life, placement) && !isReserved(life, large, run)) &&
          isReady(run, no) &&
          !isHeldBack(run, no) &&
          ledger.slots.hasRoom(run, no, LARGEST) &&
          ledger.ownRoom(run, no) > 0 &&
          // When it may start, its rate says.
          ledger.ratesOf(run, no).length === 0 &&
          !ledger.slots.mayBeRated(run, no)
        )
          waiting.set(`task ${run.created.runId}/${no}`, CLAIM_MS * Math.max(1, ledger.slots.limitCount(run, no)));
      });
    }
    for (const key of waitingSince.keys()) if (!waiting.has(key)) waitingSince.delete(key);
    for (const [key, mostMs] of waiting) {
      const since = waitingSince.get(key) ?? world.now;
      waitingSince.set(key, since);
      if (world.now - since <= mostMs) continue;
      scene.fail('I29', `${key} waits since ${since}, with room for it${seenByOwner(key)}`);
    }
  }

  /** The tasks that have not ended, for whoever looks for the cause. */
  function restOf(run: RunBook): string {
    const open = [...run.tasks.keys()].filter((no) => OPEN_STATES.has(stateOf(run, no)));
    const told = open.map((no) => {
      const { name } = taskSpecOf(run, no);
      return `; ${name} (${no}) is ${stateOf(run, no)}${seenByOwner(`task ${run.created.runId}/${no}`)}`;
    });
    return told.join('');
  }

  /** What its owner says of a task that waits, for whoever looks for the cause. */
  function seenByOwner(key: string): string {
    const [what, id] = key.split(' ');
    const [runId, no] = (id ?? '').split('/').map(Number) as [RunId, TaskNo];
    const run = what === 'task' ? ledger.run(runId) : undefined;
    const { owner } = run === undefined ? { owner: null } : ledger.shard(shardOfRun(runId));
    const state = world.nodes.find(({ nodeId }) => nodeId === owner)?.host?.inspect();
    if (run === undefined || state == null) return '';
    const { tenantId, priority } = run.created;
    const { queue } = taskSpecOf(run, no);
    const seen = waitOf(state, {
      tenantId,
      queue,
      runId,
      taskNo: no,
      priority,
      isOfBackfill: run.created.cause === 'backfill',
    });
    return `; its owner says: ${JSON.stringify(seen)}`;
  }

  /** The worker has room for what the task asks. */
  function fits(life: WorkerLife, placement: PlacementSpec | undefined): boolean {
    // Nothing runs beside one that has the worker for itself.
    if (life.active.some(({ assignment }) => assignment.booking?.exclusive === true)) return false;
    const request = requestOf(placement);
    if (request === null) return true;
    if (misfitOf(request, life.shape.traits ?? NO_TRAITS) !== null) return false;
    return (!request.exclusive || life.heldCount === 0) && hasAmounts(life.roomLeft(), request.resources);
  }

  /** Ready tasks that ask for more than a slot, by what they ask and their class. A run that closes has hooks to run. */
  function largeTasks(): { readonly placement: PlacementSpec; readonly priority: number; readonly queue: string }[] {
    return [...ledger.live].flatMap((run) => {
      if (run.isSetAside || !run.isAdmitted) return [];
      const priority = classOf(run);
      return run.spec.tasks.flatMap(({ placement, queue }, no) =>
        placement !== undefined && isReady(run, no) ? [{ placement, priority, queue }] : [],
      );
    });
  }

  /** Runs of backfills come after every class. */
  function classOf({ priority, created: { backfill } }: RunBook): number {
    return backfill === undefined ? PRIORITIES.indexOf(priority) : PRIORITIES.length;
  }

  /** The worker is kept for a task of the same class or a higher one, which waits for more room than the worker has now. */
  function isReserved(life: WorkerLife, large: ReturnType<typeof largeTasks>, run: RunBook): boolean {
    const own = classOf(run);
    const keptFor = world.nodes.map(({ host }) => host?.reservations().get(life.workerId));
    if (!keptFor.some((reserved) => reserved !== undefined && reserved <= own)) return false;
    // Items of maps and added tasks are not among these.
    if ([...ledger.live].some(({ spec: { groups, templates } }) => groups !== undefined || templates !== undefined))
      return true;
    return large.some((one) => {
      if (one.priority > own || !life.shape.queues.some((name) => name === one.queue)) return false;
      const isAble = misfitOf(requestOf(one.placement)!, life.shape.traits ?? NO_TRAITS) === null;
      return isAble && !fits(life, one.placement);
    });
  }

  /** A task whose backoff is over is ready too (I53). */
  function isReady(run: RunBook, no: number): boolean {
    const state = stateOf(run, no);
    if (isPaused(run, no) || isHeldByPast(run, no)) return false;
    if (state !== 'retrying') return state === 'ready';
    const { retry } = taskSpecOf(run, no);
    const { endedAt } = run.tasks.get(no as TaskNo)!;
    return world.now - endedAt > Math.max(retry.minMs, retry.maxMs) + 1_000;
  }

  /** A breaker lets it go in its time: what is left then is found at the end. */
  function isHeldBack(run: RunBook, no: number): boolean {
    const task = run.tasks.get(no as TaskNo);
    return (
      ledger.breakerOf(run, task?.state === 'retrying' ? [...task.ended.values()].at(-1) : undefined) !== undefined
    );
  }

  /** Its schedule wanted it to wait until the dag has no active run; `a-schedules.ts` checks that it says so. */
  function waitsForOthers({ created: { dagId, waits } }: RunBook): boolean {
    if (waits !== true) return false;
    return [...ledger.live].some((run) => run.created.dagId === dagId && run.isAdmitted && !run.isSetAside);
  }

  function hasRoomForRun({ created }: RunBook): boolean {
    const mostOfKey = ledger.dags.get(created.dagId)?.spec.concurrency?.limit;
    if (mostOfKey !== undefined && created.key !== undefined) {
      const isHolder = (run: RunBook) => run.created.dagId === created.dagId && run.created.key === created.key;
      const holders = [...ledger.live].filter((run) => isHolder(run) && run.isAdmitted && !run.isSetAside);
      if (holders.length >= mostOfKey) return false;
    }
    const limit = ledger.dags.get(created.dagId)?.spec.maxActiveRuns ?? null;
    const active = [...ledger.live].filter(
      (run) => run.created.dagId === created.dagId && run.isAdmitted && !run.isSetAside,
    );
    return limit === null || active.length < limit;
  }

  function hasRoomForTask({ created }: RunBook): boolean {
    const limit = ledger.dags.get(created.dagId)?.spec.maxActiveTasks ?? null;
    if (limit === null) return true;
    let running = 0;
    for (const run of ledger.live) {
      if (run.created.dagId !== created.dagId || run.isSetAside) continue;
      for (const task of run.tasks.values()) if (task.state === 'running') running += task.speculative === null ? 1 : 2;
    }
    return running < limit;
  }

  function isDagFrozen({ created: { tenantId, dagId } }: RunBook): boolean {
    if (isHalted(world, dagId)) return true;
    const name = ledger.dags.get(dagId)?.name;
    return world.tenants.frozen().some((one) => one.kind === 'dag' && one.tenantId === tenantId && one.name === name);
  }

  function checkOwners(): void {
    if (healedAt === null || world.now - healedAt < RECOVERY_MS || world.now - disturbedAt < RELOAD_MS) return;
    const able = world.nodes.filter((node) => node.isUp && !node.process.isPaused);
    for (const [shard, { owner }] of ledger.shards) {
      if (!able.some((node) => node.nodeId === owner && node.host?.inspect()?.shards.has(shard))) {
        scene.fail('I72', `shard ${shard} is served by nobody ${world.now - healedAt} ms after all was healed`);
      }
    }
  }

  /** All that there was to do is done: nothing of it is left in memory. */
  function checkMemory(): void {
    // A window may open just before the end: what it began is still being worked on. Older runs must have ended all the same.
    const isYoung = (run: RunBook) => !run.isSetAside && world.now - run.openedAt < RECOVERY_MS;
    for (const run of ledger.live) {
      if (!run.isSetAside && !isYoung(run))
        scene.fail('I72', `run ${run.created.runId} is ${run.phase} and nothing will change that${restOf(run)}`);
    }
    // What ended in the last commit is forgotten in the step after it, which comes with the next heartbeat.
    if ([...ledger.live].some(isYoung) || world.now - ledger.at < FORGOTTEN_MS) return;
    for (const { host, nodeId, isUp, process } of world.nodes) {
      const state = isUp && !process.isPaused ? (host?.inspect() ?? null) : null;
      if (state === null || scene.health.wellForMs() < RECOVERY_MS) continue;
      // A window that is due right now: its run is decided, and its commit is in flight.
      if ([...state.runs.rows()].some((row) => !ledger.runs.has(state.runs.id[row]!))) continue;
      const left = {
        runs: state.runs.count,
        lingering: state.lingering.length,
        agenda: state.agenda.runs.size + state.agenda.dags.size + state.agenda.calls.size + state.agenda.loaded.length,
        running: [...state.workers.all()].reduce((sum, worker) => sum + worker.running, 0),
        overdue: isOverdue(state) ? 1 : 0,
        attempts: state.attempts.count,
        speculation: state.speculation.size,
        ready: [...state.dags.byId.values()]
          .flatMap((dag) => [...dag.lanes.values()].flat())
          .reduce((sum, lane) => sum + (lane?.ready ?? 0), 0),
      };
      const total = Object.values(left).reduce((sum, count) => sum + count, 0);
      if (total > 0) scene.fail('I73', `${nodeId} has nothing to do and still holds ${JSON.stringify(left)}`);
    }
  }

  /** Claims are remembered until their worker must have shown them, and not a step longer. */
  function isOverdue(state: State): boolean {
    const dueAt = state.sent.nextDueAt(state.settings.undeliveredMs);
    return dueAt !== null && dueAt <= state.mono;
  }

  return {
    invariants: ['I18', 'I29', 'I47', 'I53', 'I72', 'I73'],
    onHappening({ kind }) {
      if (kind === 'fault') disturbedAt = world.now;
    },
    onHealed() {
      healedAt = world.now;
    },
    onLook() {
      checkConservation();
      checkOwners();
    },
    atEnd() {
      if (healedAt !== null) checkMemory();
    },
  };
}
