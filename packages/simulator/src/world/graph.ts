/** How tasks of a dag depend on each other beyond needs: rules, conditions, branches, short circuits and policies, drawn. */
import { type DagSpec, FAILURE_POLICIES, type Path, type TaskSpec, TRIGGER_RULES } from '@signalbox/engine';
import type { Chance } from './chance.ts';
import type { SimulatedWork } from './simulated-work.ts';

/** Field of every output that is no choice, and of params. */
const N: Path = ['n'];

export function planGraph(
  chance: Chance,
  tasks: readonly TaskSpec[],
): Pick<DagSpec, 'tasks' | 'onFailure' | 'paramFacts'> {
  const planned = tasks.map((task, no) => planEdges(chance, task, no, tasks));
  return {
    tasks: planErrorConditions(chance.fork('errors'), planned),
    onFailure: chance.pick(FAILURE_POLICIES),
    paramFacts: [N],
  };
}

function planEdges(chance: Chance, task: TaskSpec, no: number, tasks: readonly TaskSpec[]): TaskSpec {
  const below = tasks.filter(({ needs }) => needs.includes(no)).map(({ name }) => name);
  const role = chance.next();
  const isBranch = role < 0.15 && below.length > 0;
  const isShort = !isBranch && role < 0.3;
  const work: SimulatedWork = { ...(isBranch && { chooses: below }), ...(isShort && { stops: true }) };
  return {
    ...task,
    facts: [N],
    ...(chance.happens(0.6) && { rule: chance.pick(TRIGGER_RULES) }),
    ...(chance.happens(0.25) && { when: planCondition(chance, task) }),
    ...(chance.happens(0.15) && { setup: true as const }),
    ...(isBranch && { branch: true as const }),
    ...(isShort && { shortCircuit: chance.pick(['next', 'all'] as const) }),
    ...((isBranch || isShort) && { work }),
  };
}

/** One that looks at a field that is not there has no answer where it asks for an order. */
function planCondition(chance: Chance, { needs }: TaskSpec): NonNullable<TaskSpec['when']> {
  const left =
    needs.length > 0 && chance.happens(0.7)
      ? ({ op: 'task', task: chance.pick(needs), fact: 0 } as const)
      : ({ op: 'params', fact: 0 } as const);
  const right = { op: 'value', value: chance.int(0, 2) } as const;
  return { text: 'drawn', expression: { op: chance.happens(0.2) ? 'lt' : 'ne', left, right } };
}

const CLASSES = ['timeout', 'permanent', 'transient', 'lost', 'cancelled', null] as const;

/** Few tasks run by why another one has failed. */
function planErrorConditions(chance: Chance, tasks: readonly TaskSpec[]): readonly TaskSpec[] {
  const asked = new Set<number>();
  const asking = tasks.map((task): TaskSpec => {
    if (task.needs.length === 0 || !chance.happens(0.15)) return task;
    const of = chance.pick(task.needs);
    asked.add(of);
    const expression = {
      op: chance.happens(0.5) ? 'eq' : 'ne',
      left: { op: 'error', task: of, of: 'class' },
      right: { op: 'value', value: chance.pick(CLASSES) },
    } as const;
    return { ...task, when: { text: 'drawn', expression }, ...(chance.happens(0.8) && { rule: 'all_done' as const }) };
  });
  return asking.map((task, no) => (asked.has(no) ? { ...task, tellsError: true as const } : task));
}
