/** Dags that call others, drawn. */
import type { DagSpec, TaskSpec } from '@signalbox/engine';
import type { Chance } from './chance.ts';

/** A dag that nobody ever deploys. */
const NOWHERE = 'nowhere';

/** Some tasks become calls of these dags, none of which calls back: so whoever waits, waits for something that comes to its end. */
export function planCalls(chance: Chance, spec: DagSpec, callable: readonly string[]): DagSpec {
  if (callable.length === 0 || !chance.happens(0.5)) return spec;
  return { ...spec, tasks: spec.tasks.map((task) => planCall(chance, task, callable)) };
}

function planCall(chance: Chance, task: TaskSpec, callable: readonly string[]): TaskSpec {
  if (task.adds || task.branch || task.shortCircuit !== undefined || !chance.happens(0.4)) return task;
  const dag = chance.happens(0.05) ? NOWHERE : chance.pick(callable);
  // A run of another dag takes longer than one attempt of a task.
  const timeoutMs = task.timeoutMs === null ? null : task.timeoutMs * chance.int(1, 4);
  return { ...task, timeoutMs, child: { dag, wait: chance.happens(0.85) } };
}
