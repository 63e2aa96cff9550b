/** What closes runs, drawn: teardowns over some tasks, what undoes others, hooks of tasks and runs. */
import type { DagSpec, TaskSpec } from '@signalbox/engine';
import type { Chance } from './chance.ts';

const HOOKS = ['after', 'success', 'failure', 'retry', 'slow'] as const;
/** What is slow, where nothing else says so. */
const SLOW_MS = { task: 400, run: 2_000 };

/** A third of the dags without maps have some. They come behind the tasks that are there: numbers stay as they are. */
export function planClosing(chance: Chance, spec: DagSpec): DagSpec {
  if (!chance.happens(0.35) || spec.groups !== undefined) return spec;
  const { tasks } = spec;
  const of = (name: string, marks: Pick<TaskSpec, 'teardown' | 'undoes' | 'hook'>, needs: readonly number[] = []) => {
    const { queue, retry, timeoutMs } = chance.pick(tasks);
    const handler = chance.pick(['quick', 'quick', 'steady', 'flaky'] as const);
    // Whoever may hang has a timeout.
    return { name, handler, queue, needs, retry, timeoutMs: timeoutMs ?? 5_000, ...marks };
  };
  const added: TaskSpec[] = [];
  if (chance.happens(0.6)) {
    const setups = tasks.flatMap((_, no) => (chance.happens(0.4) ? [no] : []));
    const needs = tasks.flatMap((_, no) => (setups.includes(no) || chance.happens(0.3) ? [no] : []));
    if (needs.length > 0) added.push(of('down', { teardown: setups }, needs));
  }
  const isUndone = chance.happens(0.5);
  tasks.forEach(({ name }, no) => {
    if (isUndone && chance.happens(0.6)) added.push(of(`${name}:undo`, { undoes: no }));
    if (chance.happens(0.2)) {
      const on = chance.pick(HOOKS);
      added.push(of(`${name}:${on}`, { hook: { of: no, on } }));
    }
  });
  for (const on of HOOKS) if (chance.happens(0.2)) added.push(of(`run:${on}`, { hook: { of: null, on } }));
  const isAsked = (of: number | null) => added.some(({ hook }) => hook?.on === 'slow' && hook.of === of);
  const timed = tasks.map((task, no) => (isAsked(no) ? { softTimeoutMs: SLOW_MS.task, ...task } : task));
  return {
    ...(isAsked(null) && { softTimeoutMs: SLOW_MS.run }),
    ...spec,
    tasks: [...timed, ...added],
    ...(isUndone && { compensate: true as const }),
  };
}
