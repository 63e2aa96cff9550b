/** Dags whose tasks add tasks, drawn: what may be added, and what their code adds. */
import { bitsOf, type DagSpec, type NewTask, type QueueName, type TaskSpec, TRIGGER_RULES } from '@signalbox/engine';
import type { Assignment } from '@signalbox/host';
import type { Chance } from './chance.ts';
import type { AddingWork, SimulatedWork } from './simulated-work.ts';

export function planAdding(chance: Chance, spec: DagSpec): DagSpec {
  const able = spec.tasks.flatMap((task, no) => (mayAdd(task) ? [no] : []));
  if (able.length === 0) return spec;
  const adders = new Set(Array.from({ length: chance.int(1, 2) }, () => chance.pick(able)));
  const names = Array.from({ length: chance.int(1, 2) }, (_, i) => `p${i}`);
  const tasks = spec.tasks.map(({ name }) => name);
  const withWork = (task: TaskSpec, no: number): TaskSpec => {
    const below = spec.tasks.filter(({ needs }) => needs.includes(no)).map(({ name }) => name);
    const adds: AddingWork = { templates: names, tasks, below };
    return { ...task, adds: true, work: { ...task.work, adds } };
  };
  const ordinary = spec.tasks.flatMap((task, no) => (isOrdinary(task) ? [no] : []));
  const templates = names.map((name): TaskSpec => {
    const template = planTemplate(chance, name, ordinary, spec.tasks[able[0]!]!);
    return chance.happens(0.2) ? withWork(template, -1) : template;
  });
  return {
    ...spec,
    tasks: spec.tasks.map((task, no) => (adders.has(no) ? withWork(task, no) : task)),
    templates,
    maxAddedTasks: chance.int(2, 6),
  };
}

function isOrdinary({ teardown, undoes, hook }: TaskSpec): boolean {
  return teardown === undefined && undoes === undefined && hook === undefined;
}

function mayAdd(task: TaskSpec): boolean {
  return isOrdinary(task) && task.group === undefined && task.child === undefined;
}

function planTemplate(chance: Chance, name: string, ordinary: readonly number[], { retry }: TaskSpec): TaskSpec {
  const handler = chance.pick(['quick', 'steady', 'flaky', 'dependent']);
  return {
    name,
    handler,
    queue: 'default' as QueueName,
    needs: ordinary.filter(() => chance.happens(0.15)),
    retry,
    // Whoever may hang has a timeout.
    timeoutMs: handler === 'flaky' || chance.happens(0.2) ? chance.int(500, 8_000) : null,
    ...(chance.happens(0.3) && { rule: chance.pick(TRIGGER_RULES) }),
    ...(chance.happens(0.1) && { queueTimeoutMs: chance.int(1_000, 15_000) }),
  };
}

/** The same for all attempts of a task, but for some that have another plan. */
export function tasksToAdd(
  { claim }: Pick<Assignment, 'claim'>,
  { templates, tasks, below }: AddingWork,
  call: number,
): NewTask[] {
  const variant = claim.attemptNo % 3 === 2 ? claim.attemptNo : 0;
  const draw = (what: number, i: number) => bitsOf(27, claim.runId, claim.taskNo, call, variant, what, i);
  // Now and then a name that another task gives as well, or that is one of the dag.
  const nameOf = (i: number) => {
    const by = draw(1, i) % 12;
    return by === 0 ? `x${i}` : by === 1 ? tasks[draw(2, i) % tasks.length]! : `x${claim.taskNo}-${call}-${i}`;
  };
  const names = Array.from({ length: 1 + (draw(0, 0) % 3) }, (_, i) => nameOf(i));
  const some = (what: number, i: number, from: readonly string[]) =>
    from.length > 0 && draw(what, i) % 3 === 0 ? [from[draw(what + 1, i) % from.length]!] : [];
  return names.map((name, i) => ({
    name,
    template: templates[draw(3, i) % templates.length]!,
    needs: [
      ...some(4, i, tasks),
      ...some(6, i, names.slice(0, i)),
      ...(draw(8, i) % 20 === 0 ? names.slice(i + 1) : []),
    ],
    before: [...new Set([...some(9, i, draw(13, i) % 8 === 0 ? tasks : below), ...some(14, i, below)])],
    inputs: draw(11, i) % 2 === 0 ? null : `{"k":${draw(12, i) % 3}}`,
  }));
}

export function addingOf({ work }: Assignment): AddingWork | undefined {
  return work === '' ? undefined : (JSON.parse(work) as SimulatedWork).adds;
}
