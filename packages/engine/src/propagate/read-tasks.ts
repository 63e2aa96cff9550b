/** The states of all tasks of a stored run, for readers. */

import { Graph } from '../model/dag/graph.ts';
import type { DagSpec } from '../model/dag/spec.ts';
import type { TaskSlot } from '../model/ids.ts';
import { TASK_STATE_NAMES, type TaskState } from '../model/task/task-states.ts';
import { TaskNames } from '../tables/map/task-names.ts';
import { FIRST_SLOT } from '../tables/task/task-table.ts';
import { type DerivableRun, type DerivableTask, deriveFaults, deriveTasks } from './derive.ts';
import { deriveReasons } from './reasons.ts';
import { slotIn } from './run-tasks-view.ts';

export interface InstanceCounts {
  readonly total: number;
  /** Those that are not zero. */
  readonly states: Readonly<Partial<Record<TaskState, number>>>;
}

export interface TasksRead {
  readonly names: TaskNames;
  stateOf(no: number): TaskState;
  /** Why a task failed that never had an attempt. */
  faultOf(no: number): string | null;
  /** Why a task never ran: which rule, condition, branch or short circuit says so. */
  reasonOf(no: number): string | null;
  /** For mapped tasks, by their number in the spec: the combined state of all instances. */
  readonly instances: ReadonlyMap<number, InstanceCounts>;
}

export function readTasks(
  spec: DagSpec,
  rows: readonly DerivableTask[],
  run: DerivableRun,
  graph: Graph = new Graph(spec),
): TasksRead {
  const derived = deriveTasks(graph, rows, run);
  const view = { graph, base: FIRST_SLOT, maps: derived.maps };
  const { state } = derived.columns;
  const nameAt = (slot: TaskSlot) => TASK_STATE_NAMES[state[slot] ?? 0] ?? 'blocked';
  let faults: ReadonlyMap<number, string> | null = null;
  let reasons: ReadonlyMap<number, string> | null = null;
  return {
    names: new TaskNames(spec, run.maps ?? []),
    stateOf: (no) => nameAt(slotIn(view, no)),
    faultOf(no) {
      faults ??= deriveFaults(graph, rows, run);
      return faults.get(no) ?? null;
    },
    reasonOf(no) {
      reasons ??= deriveReasons(
        graph,
        rows,
        run,
        spec.tasks.map(({ name }) => name),
      );
      return reasons.get(no) ?? null;
    },
    instances: countInstances(derived.maps, nameAt),
  };
}

function countInstances(
  maps: ReturnType<typeof deriveTasks>['maps'],
  nameAt: (slot: TaskSlot) => TaskState,
): Map<number, InstanceCounts> {
  const counts = new Map<number, { total: number; states: Partial<Record<TaskState, number>> }>();
  if (maps === null) return counts;
  maps.shape.chains.forEach((chain, spec) => {
    if (chain.length > 0) counts.set(spec, { total: 0, states: {} });
  });
  for (const expansion of maps.expansions) {
    const { members, depth } = expansion.group;
    const [innermost] = [members.map((spec) => maps.shape.chains[spec]?.length === depth + 1)];
    for (let place = 0; place < members.length; place++) {
      // Those that a map within makes more of are counted there.
      const of = innermost[place] === true ? counts.get(members[place] as number) : undefined;
      if (of === undefined) continue;
      of.total += expansion.total;
      for (let i = 0; i < expansion.unfolded; i++) {
        const name = nameAt(maps.slotOf(expansion.firstNo + i * members.length + place));
        of.states[name] = (of.states[name] ?? 0) + 1;
      }
      const later = expansion.total - expansion.unfolded;
      if (later > 0) of.states.blocked = (of.states.blocked ?? 0) + later;
    }
  }
  return counts;
}
