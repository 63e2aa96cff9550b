/** Checks what a gang can't be combined with, and that no limit of the definition keeps it from ever beginning. */
import type { Problem } from '../errors.ts';
import type { ParsedDagDefinition } from './dag-definition.ts';
import { gangShape } from './placement-fields.ts';

type Task = ParsedDagDefinition['tasks'][number];

/** The fields that contradict a gang, and why. */
const CONTRADICTIONS = {
  map: 'has members as a map has items: put the task into a group with a map to run a gang for each item',
  speculate: 'is as slow as its slowest member, and a second attempt of one member could not join the others',
  teardown: 'is for ordinary tasks, and this is a teardown',
  adds: 'is for tasks that add nothing to their run',
} as const satisfies Partial<Record<keyof Task, string>>;

export function checkGangs(definition: ParsedDagDefinition, problems: Problem[]): void {
  definition.tasks.forEach((task, no) => {
    if (task.gang === undefined) return;
    const path = `tasks[${no}].gang`;
    const { size, share } = gangShape(task.gang);
    for (const [field, why] of Object.entries(CONTRADICTIONS)) {
      const value = task[field as keyof typeof CONTRADICTIONS];
      if (value !== undefined && value !== false)
        problems.push({ path, message: `can't be combined with ${field}: a gang ${why}` });
    }
    if (share === true && task.exclusive === true)
      problems.push({
        path: `${path}.share`,
        message: "can't be combined with exclusive: a member is alone on its worker",
      });
    for (const [name, most] of limitsOf(definition, task)) {
      if (most !== undefined && most !== null && most < size)
        problems.push({
          path,
          message: `could never begin: it has ${size} members, and ${name} allows ${most} at a time`,
        });
    }
    for (const [name, rate] of [
      ['rate of the dag', definition.rate],
      ['rate', task.rate],
    ] as const) {
      if (rate !== undefined && rate.limit < size)
        problems.push({
          path,
          message: `could never begin: it has ${size} members, and ${name} allows ${rate.limit} starts`,
        });
    }
  });
  definition.templates?.forEach((template, no) => {
    if (template.gang !== undefined)
      problems.push({
        path: `templates[${no}].gang`,
        message: 'is for tasks of the definition: a task that is added is no gang',
      });
  });
}

function limitsOf(
  definition: ParsedDagDefinition,
  task: Task,
): readonly (readonly [string, number | null | undefined])[] {
  return [
    ['maxActiveTasks of the dag', definition.maxActiveTasks],
    ['maxActiveTasksPerRun', definition.maxActiveTasksPerRun],
    ['maxActive', task.maxActive],
  ];
}
