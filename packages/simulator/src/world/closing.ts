/** What closes runs, drawn: teardowns over some tasks, what undoes others, hooks of tasks and runs. */
import type { DagSpec, TaskSpec } from '@signalbox/engine';
import type { Chance } from './chance.ts';

const HOOKS = ['before', 'after', 'success', 'failure', 'retry', 'slow'] as const;
/** What is slow, where nothing else says so. */
const SLOW_MS = { task: 100, run: 1_500 };

/** A third of the dags have some. They come behind the tasks that are there: numbers stay as they are. */
export function planClosing(chance: Chance, spec: DagSpec): DagSpec {
  if (!chance.happens(0.35)) return spec;
  const { tasks } = spec;
  type Marks = Pick<TaskSpec, 'teardown' | 'undoes' | 'hook'>;
  const of = (name: string, marks: Marks, whose: number | null, needs: readonly number[] = []): TaskSpec => {
    const { queue, retry, timeoutMs } = chance.pick(tasks);
    const handler = chance.pick(['quick', 'quick', 'steady', 'flaky'] as const);
    // Whoever may hang has a timeout.
    const own = { name, handler, queue, needs, retry, timeoutMs: timeoutMs ?? 5_000, ...marks };
    // In a map it runs for each item that its task runs for.
    const group = whose === null ? undefined : tasks[whose]?.group;
    return group === undefined ? own : { ...own, group };
  };
  const added: TaskSpec[] = [];
  if (chance.happens(0.6)) {
    const drawn = tasks.flatMap((_, no) => (chance.happens(0.4) ? [no] : []));
    const first = drawn[0] === undefined ? null : chance.pick(drawn);
    const setups = drawn.filter((no) => tasks[no]?.group === (first === null ? undefined : tasks[first]?.group));
    const needs = tasks.flatMap((_, no) => (setups.includes(no) || chance.happens(0.3) ? [no] : []));
    if (needs.length > 0) added.push(of('down', { teardown: setups }, first, needs));
  }
  const isUndone = chance.happens(0.5);
  tasks.forEach(({ name }, no) => {
    if (isUndone && chance.happens(0.6)) added.push(of(`${name}:undo`, { undoes: no }, no));
    for (const on of HOOKS) {
      if (!chance.happens(on === 'slow' ? 0.35 : on === 'retry' ? 0.2 : 0.07)) continue;
      added.push(of(`${name}:${on}`, { hook: { of: no, on } }, no));
    }
  });
  for (const on of HOOKS)
    if (chance.happens(on === 'slow' ? 0.5 : 0.2)) added.push(of(`run:${on}`, { hook: { of: null, on } }, null));
  const isAsked = (of: number | null) => added.some(({ hook }) => hook?.on === 'slow' && hook.of === of);
  const timed = tasks.map((task, no) => (isAsked(no) ? { softTimeoutMs: SLOW_MS.task, ...task } : task));
  return {
    ...(isAsked(null) && { softTimeoutMs: SLOW_MS.run }),
    ...spec,
    tasks: [...timed, ...added],
    ...(isUndone && { compensate: true as const }),
  };
}
