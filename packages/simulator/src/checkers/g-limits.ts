/** G. Limits and priorities. */
import type {
  AttemptClaimed,
  DagId,
  NodeId,
  PlacementSpec,
  ShardNo,
  SpeculativeClaimed,
  TaskNo,
} from '@signalbox/engine';
import { isPool, NOBODY, PRIORITIES, requestKey, requestOf } from '@signalbox/engine';
import type { JournaledCommit } from '../fake-store/index.ts';
import { isHeldByPast, isPaused, type RunBook } from './books.ts';
import type { Checker, Scene } from './checker.ts';
import { isHalted } from './g-halts.ts';
import { taskSpecOf } from './map-book.ts';
import { isUnfolding, stateOf } from './task-states.ts';

/** Nodes read each second what is frozen; one that is cut off later. */
const FROZEN_MS = 20_000;

/** So long most shards take to load. */
const LOADED_MS = 1_000;

/** Empty for one that asks for nothing but a slot. */
function keyOf(placement: PlacementSpec | undefined): string {
  const request = requestOf(placement);
  return request === null ? '' : requestKey(request);
}

export function limits(scene: Scene): Checker {
  const { ledger, world } = scene;
  const takenAt = new Map<ShardNo, number>();

  /** Until when a dag or queue may count as frozen somewhere. */
  let frozenUntil = 0;

  function running(dagId: DagId): number {
    let count = 0;
    for (const run of ledger.live) {
      if (run.created.dagId !== dagId || run.isSetAside) continue;
      for (const task of run.tasks.values()) if (task.state === 'running') count += task.speculative === null ? 1 : 2;
    }
    return count;
  }

  function checkClaim(change: AttemptClaimed | SpeculativeClaimed): void {
    if (change.workerId === NOBODY) return;
    const { dagId } = ledger.run(change.runId).created;
    const limit = ledger.dags.get(dagId)?.spec.maxActiveTasks ?? null;
    if (limit === null) return;
    const held = running(dagId);
    if (held >= limit)
      scene.fail('I44', `task ${change.runId}/${change.taskNo} was claimed, dag ${dagId} has ${held} of ${limit}`);
  }

  /** Limits of a task over all runs, and of all tasks of one run. */
  function checkOwnLimits(change: AttemptClaimed | SpeculativeClaimed): void {
    const left = ledger.ownRoom(ledger.run(change.runId), change.taskNo);
    if (change.workerId !== NOBODY && left < 1)
      scene.fail('I44', `task ${change.runId}/${change.taskNo} was claimed, its own limits have ${left} left`);
  }

  /** On one node: nothing of a higher priority was left behind that could have had the slot. */
  function checkPriority({ changes, nodeId, shards }: JournaledCommit): void {
    const known = new Set(shards.map(({ shard }) => shard));
    for (const change of changes) {
      if (change.kind !== 'AttemptClaimed' && change.kind !== 'SpeculativeClaimed') continue;
      if (change.workerId === NOBODY) continue;
      const run = ledger.run(change.runId);
      // A backfill has a share whatever waits, and whatever waits goes before the rest of it.
      if (run.created.backfill !== undefined) continue;
      const { queue, placement } = taskSpecOf(run, change.taskNo);
      const asked = keyOf(placement);
      const rank = PRIORITIES.indexOf(run.priority);
      for (const other of ledger.live) {
        // A slot may be lent for one tenant alone.
        if (other.created.backfill !== undefined || other.created.tenantId !== run.created.tenantId) continue;
        if (!known.has(other.shard) || PRIORITIES.indexOf(other.priority) >= rank) continue;
        const left = waitingTask(other, queue, asked);
        if (left !== null && isLoaded(nodeId, other)) {
          scene.fail(
            'I49',
            `${nodeId} claimed ${change.runId}/${change.taskNo} (${run.priority}) before ${other.created.runId}/${left} (${other.priority})`,
          );
        }
      }
    }
  }

  /** A new owner loads runs in pages, oldest first, and begins before it has seen them all. What it has now may have come after it decided. */
  function isLoaded(nodeId: NodeId, { created, shard }: RunBook): boolean {
    if (world.now - (takenAt.get(shard) ?? 0) < LOADED_MS) return false;
    const node = world.nodes.find((one) => one.nodeId === nodeId);
    const state = node?.host?.inspect() ?? null;
    return state !== null && state.runs.find(created.runId) >= 0;
  }

  /** A task of the run that is ready, by the books alone, that no limit holds back, and that fits where one with this request does. */
  function waitingTask(run: RunBook, queue: string, asked: string): number | null {
    if (run.phase !== 'open' || !run.isAdmitted || run.isSetAside || isHalted(world, run.created.dagId)) return null;
    const limit = ledger.dags.get(run.created.dagId)?.spec.maxActiveTasks ?? null;
    if (limit !== null && running(run.created.dagId) >= limit) return null;
    // A node may have read it, or not yet know that it is over.
    if (world.tenants.frozen().length > 0 || world.now < frozenUntil) return null;
    const isHeld = (no: TaskNo) => {
      // One whose claim came back may find that the breaker of what it failed with before is open by now.
      const last = [...(run.tasks.get(no)?.ended.values() ?? [])].at(-1);
      return isPaused(run, no) || isHeldByPast(run, no) || ledger.breakerOf(run, last) !== undefined;
    };
    const no = run.spec.tasks.findIndex(
      (task, i) =>
        task.queue === queue &&
        task.child === undefined &&
        ['', asked].includes(keyOf(task.placement)) &&
        stateOf(run, i) === 'ready' &&
        !isHeld(i as TaskNo) &&
        !mayBeLimited(run, i) &&
        ledger.ratesOf(run, i).length === 0 &&
        !ledger.slots.mayBeRated(run, i) &&
        ledger.ownRoom(run, i) > 0,
    );
    return no < 0 || isUnfolding(run) ? null : no;
  }

  /** Its shard may lack slots of a limit that spans shards, though others have some. */
  function mayBeLimited(run: RunBook, no: number): boolean {
    const { slots } = ledger;
    return slots
      .takenBy(run, no)
      .some(({ limit }) => isPool(limit) || slots.limits.get(limit)?.slots != null || slots.hold(run.shard, limit));
  }

  /** By dag: runs that are admitted, and attempts that run. */
  function countAll(): Map<DagId, { active: number; running: number }> {
    const counts = new Map<DagId, { active: number; running: number }>();
    for (const { created, isAdmitted, isSetAside, tasks } of ledger.live) {
      if (isSetAside) continue;
      const count = counts.get(created.dagId) ?? { active: 0, running: 0 };
      counts.set(created.dagId, count);
      if (isAdmitted) count.active += 1;
      for (const task of tasks.values())
        if (task.state === 'running') count.running += task.speculative === null ? 1 : 2;
    }
    return counts;
  }

  /** The counts that a live owner goes by are those of the books. */
  function checkCounts(): void {
    const counts = countAll();
    for (const node of world.nodes) {
      const state = node.isUp ? (node.host?.inspect() ?? null) : null;
      if (state === null) continue;
      for (const dag of state.dags.byId.values()) {
        const shard = state.shards.get(dag.shard);
        const book = ledger.shard(dag.shard);
        if (shard === undefined || shard.epoch !== book.epoch || shard.commitNo !== book.commitNo) continue;
        // A shard that is being loaded with care is not used before all of it is there.
        if (world.database.tables.shard(dag.shard).loadCount > 2) continue;
        const { active, running: held } = counts.get(dag.id) ?? { active: 0, running: 0 };
        if (dag.runningTasks !== held) {
          scene.fail('I45', `${node.nodeId} counts ${dag.runningTasks} running of dag ${dag.id}, there are ${held}`);
        }
        if (dag.activeRuns !== active) {
          scene.fail(
            'I45',
            `${node.nodeId} counts ${dag.activeRuns} active runs of dag ${dag.id}, there are ${active}`,
          );
        }
      }
    }
  }

  return {
    invariants: ['I44', 'I45', 'I46', 'I49'],
    onChange(change) {
      if (change.kind !== 'AttemptClaimed' && change.kind !== 'SpeculativeClaimed') return;
      checkClaim(change);
      checkOwnLimits(change);
    },
    onTake({ taken }) {
      for (const { shard } of taken) takenAt.set(shard, world.now);
    },
    onHappening(happening) {
      if (happening.kind === 'freeze') frozenUntil = world.now + FROZEN_MS;
    },
    onCommit: checkPriority,
    onLook: checkCounts,
  };
}
