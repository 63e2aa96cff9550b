/** The definition of a run that goes up to a chosen task: found here once more, from the dag and the name alone. */
import type { DagSpec, TaskSpec } from '@signalbox/engine';
import { isClosing } from '@signalbox/engine/testing';

/** Runs of one version often have the same goal, and what follows from a definition is kept with it. */
const known = new WeakMap<DagSpec, Map<string, DagSpec>>();

export function definitionUpTo(spec: DagSpec, until: string | undefined): DagSpec {
  if (until === undefined) return spec;
  const ofSpec = known.get(spec) ?? new Map<string, DagSpec>();
  known.set(spec, ofSpec);
  const found = ofSpec.get(until) ?? limited(spec, until);
  ofSpec.set(until, found);
  return found;
}

/** Tasks that do not belong to it are in no map, and marked. */
function limited(spec: DagSpec, until: string): DagSpec {
  const inside = tasksUpTo(spec, until);
  const tasks = spec.tasks.map((task, no): TaskSpec => {
    if (inside.has(no)) return task;
    const { group: _group, ...rest } = task;
    return { ...rest, outside: true };
  });
  return { ...spec, tasks };
}

/** Is the task in this group, or in one within it? */
export function isInGroup({ groups = [] }: DagSpec, task: TaskSpec, group: number): boolean {
  for (let at = task.group ?? null; at !== null; at = groups[at]!.parent) if (at === group) return true;
  return false;
}

function isGoalOf(spec: DagSpec, until: string, task: TaskSpec): boolean {
  const { groups = [] } = spec;
  return task.name === until || groups.some(({ name }, group) => name === until && isInGroup(spec, task, group));
}

const isOrdinary = (task: TaskSpec) => !isClosing(task) && task.hook === undefined;

/** A run of it may go up to there: to an ordinary task, or to a group that has some. */
export function hasGoal(spec: DagSpec, until: string | undefined): boolean {
  return until === undefined || spec.tasks.some((task) => isOrdinary(task) && isGoalOf(spec, until, task));
}

function tasksUpTo(spec: DagSpec, until: string): Set<number> {
  const { tasks, groups = [] } = spec;
  const isGoal = (task: TaskSpec) => task.name === until || (isOrdinary(task) && isGoalOf(spec, until, task));
  const feeds = (task: TaskSpec) =>
    groups.flatMap(({ map }, group) =>
      isInGroup(spec, task, group)
        ? (map?.over ?? []).flatMap((source) => (source.from === 'task' ? [source.task] : []))
        : [],
    );
  const inside = new Set(tasks.flatMap((task, no) => (isGoal(task) ? [no] : [])));
  for (let size = 0; size < inside.size; ) {
    size = inside.size;
    for (const no of [...inside]) for (const up of [...tasks[no]!.needs, ...feeds(tasks[no]!)]) inside.add(up);
  }
  // A hook of the run, or what belongs to a task that is there.
  const belongs = ({ teardown, undoes, hook, needs }: TaskSpec) => {
    if (teardown !== undefined) return (teardown.length > 0 ? teardown : needs).some((up) => inside.has(up));
    if (undoes !== undefined) return inside.has(undoes);
    return hook !== undefined && (hook.of === null || inside.has(hook.of));
  };
  return new Set([...inside, ...tasks.flatMap((task, no) => (belongs(task) ? [no] : []))]);
}
