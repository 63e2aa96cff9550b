/** Which attempts a worker runs: a list through the task table, and the counts that limits look at (I45). */
import { updateLanes } from '../queue/enqueue.ts';
import type { State } from '../state.ts';
import { NONE } from '../task/task-table.ts';
import type { Worker } from './worker-table.ts';

export function linkAttempt(state: State, slot: number, worker: Worker): void {
  const { tasks, runs } = state;
  tasks.worker[slot] = worker.no;
  tasks.previous[slot] = NONE;
  tasks.next[slot] = worker.firstTask;
  if (worker.firstTask !== NONE) tasks.previous[worker.firstTask] = slot;
  worker.firstTask = slot;
  worker.running += 1;
  const run = tasks.run[slot]!;
  runs.running[run]! += 1;
  const { dag } = runs.versionOf(run);
  dag.runningTasks += 1;
  if (!dag.hasRoomForTask()) updateLanes(dag);
}

export function unlinkAttempt(state: State, slot: number): void {
  const { tasks, runs } = state;
  const worker = state.workers.at(tasks.worker[slot]!)!;
  const [previous, next] = [tasks.previous[slot]!, tasks.next[slot]!];
  if (previous === NONE) worker.firstTask = next;
  else tasks.next[previous] = next;
  if (next !== NONE) tasks.previous[next] = previous;
  tasks.worker[slot] = NONE;
  worker.running -= 1;
  state.workers.forgetIfIdle(worker);
  const run = tasks.run[slot]!;
  runs.running[run]! -= 1;
  if (runs.running[run] === 0) state.agenda.runs.add(run);
  const { dag } = runs.versionOf(run);
  const wasFull = !dag.hasRoomForTask();
  dag.runningTasks -= 1;
  if (wasFull) updateLanes(dag);
}

/** The attempts that a worker runs, as they are now. */
export function attemptsOf(state: State, worker: Worker): number[] {
  const slots: number[] = [];
  for (let slot = worker.firstTask; slot !== NONE; slot = state.tasks.next[slot]!) slots.push(slot);
  return slots;
}
