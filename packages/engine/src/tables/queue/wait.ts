/**
 * What one ready task waits for, by what the matcher itself looks at: what keeps its lane from its queue, and which tasks are
 * claimed before it. Looked at on request.
 */
import { PRIORITIES } from '../../model/dag/spec.ts';
import type { QueueName, RunId, TaskNo, TaskSlot, TenantId } from '../../model/ids.ts';
import { READY, TASK_STATE_NAMES } from '../../model/task/task-states.ts';
import { instanceName } from '../map/task-names.ts';
import { isHeldByPast } from '../past/past.ts';
import { isPaused } from '../run/paused.ts';
import type { State } from '../state.ts';
import { firstOfGang, isMember, membersOf } from '../task/gang.ts';
import { slotOf, taskNoOf, taskSpecOf } from '../task/task-slots.ts';
import { NO_TASK } from '../task/task-table.ts';
import { blockersOfLane, type LaneBlocker } from './blockers.ts';
import { BACKFILL_LANES } from './classes.ts';
import { isReadyIn, laneOf } from './enqueue.ts';
import type { Lane } from './lane.ts';
import type { Turn } from './turn.ts';

/** A task, as it is stored: nodes that do not have its run count what is before it as well. */
export interface WaitingTask {
  readonly tenantId: TenantId;
  readonly queue: QueueName;
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  readonly priority: (typeof PRIORITIES)[number];
  readonly isOfBackfill: boolean;
}

export interface WaitSeen {
  /** What keeps it from its queue; null: the run is not in memory here, or the task is not ready. */
  readonly blockers: readonly LaneBlocker[] | null;
  /** Tasks of its tenant and queue that go first, and that nothing holds back. */
  readonly ahead: number;
}

/** More than so many are not counted. */
export const MOST_AHEAD = 10_000;

export function waitOf(state: State, task: WaitingTask): WaitSeen {
  return { blockers: blockersOfTask(state, task), ahead: aheadOf(state, task) };
}

function blockersOfTask(state: State, { runId, taskNo }: WaitingTask): readonly LaneBlocker[] | null {
  const run = state.runs.find(runId);
  if (run < 0) return null;
  const slot = slotOf(state, run, taskNo);
  if (slot < 0 || state.tasks.state[slot] !== READY || isPaused(state, slot) || isHeldByPast(state, slot)) return null;
  const blockers = blockersOfLane(state, state.runs.versionOf(run).dag, laneOf(state, run, slot));
  const missing = missingMember(state, slot);
  return missing === null ? blockers : [{ code: 'gang', subject: missing }, ...blockers];
}

/** A member of its gang that is not ready, and its state: the others wait for it. Null for any other task. */
function missingMember(state: State, slot: TaskSlot): string | null {
  if (!isMember(state, slot) || state.gangs.has(firstOfGang(state, slot))) return null;
  const { tasks, runs } = state;
  const other = membersOf(state, slot)?.find((member) => tasks.state[member] !== READY);
  if (other === undefined) return null;
  const name = instanceName(taskSpecOf(state, other).name, runs.mapsOf(tasks.run[other]!), taskNoOf(state, other));
  return `${name} is ${TASK_STATE_NAMES[tasks.state[other]!]}`;
}

function aheadOf(state: State, { tenantId, queue: name, runId, taskNo, priority, isOfBackfill }: WaitingTask): number {
  const own = isOfBackfill ? BACKFILL_LANES : PRIORITIES.indexOf(priority);
  let ahead = 0;
  for (const queue of state.queues.named(tenantId, name)) {
    for (let higher = 0; higher < own; higher++) ahead += queue.waitingAt(higher);
  }
  const turns = state.queues.named(tenantId, name).flatMap((queue) => queue.activeTurns(own));
  const before = ({ lanes }: Turn<Lane>) =>
    lanes.all().reduce((sum, lane) => {
      const most = Math.max(0, MOST_AHEAD - sum);
      return sum + lane.countBefore(runId, taskNo, most, (id, slot) => isReadyIn(state, lane, id, slot));
    }, 0);
  const mine = turnOf(state, runId, taskNo);
  for (const turn of turns) {
    if (ahead >= MOST_AHEAD) break;
    ahead += mine === null || turn === mine ? before(turn) : claimsBefore(turn, mine, before(mine));
  }
  return Math.min(ahead, MOST_AHEAD);
}

/** The turn of the task's dag; null where its run is not in memory: then all older runs count. */
function turnOf(state: State, runId: RunId, taskNo: TaskNo): Turn<Lane> | null {
  const run = state.runs.find(runId);
  const slot = run < 0 ? NO_TASK : slotOf(state, run, taskNo);
  return slot < 0 ? null : laneOf(state, run, slot).turn;
}

/** What another dag claims until so many of the task's own dag have been claimed, and it is next. */
function claimsBefore(other: Turn<Lane>, mine: Turn<Lane>, before: number): number {
  const goesFirst = mine.place < 0 || other.head < mine.head;
  const rounds = Math.max(mine.tag, mine.place < 0 ? other.tag : mine.tag) + before - other.tag + Number(goesFirst);
  return Math.min(other.waiting(), Math.max(0, rounds));
}
