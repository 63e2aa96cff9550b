/** Checks which tasks may add tasks to their run, and turns the templates of a dag into task specs. */
import type { Problem } from '../errors.ts';
import { DEFAULT_ADDED_TASKS, MAX_TASKS } from '../limits.ts';
import { poisonSpec } from './breaker-fields.ts';
import { ofFunctions } from './concurrency-fields.ts';
import type { ParsedDagDefinition } from './dag-definition.ts';
import type { TaskSpecShape } from './dag-spec-shape.ts';
import { checkPlacement, placementSpec } from './placement-fields.ts';
import type { ReadGroups } from './read-groups.ts';
import { readWork, tasksInInputs } from './read-work.ts';
import { retryPolicy } from './retries.ts';
import { checkLimits, limitSpec } from './task-limits.ts';
import { unknownTask } from './unknown-task.ts';

interface Known {
  readonly numbers: ReadonlyMap<string, number>;
  readonly groups: ReadGroups;
  /** Teardowns: nothing else may wait for them. */
  readonly isClosing: (task: number) => boolean;
}

interface ReadAdding {
  readonly templates?: readonly TaskSpecShape[];
  readonly maxAddedTasks?: number;
}

export function readAdding(definition: ParsedDagDefinition, known: Known, problems: Problem[]): ReadAdding {
  const { tasks, templates, maxAddedTasks } = definition;
  checkAdders(definition, known, problems);
  if (templates === undefined) {
    if (maxAddedTasks !== undefined) problems.push({ path: 'maxAddedTasks', message: 'goes with templates' });
    return {};
  }
  if (!tasks.some((task) => task.adds === true)) {
    problems.push({ path: 'templates', message: 'are unused: no task has adds' });
  }
  const most = maxAddedTasks ?? DEFAULT_ADDED_TASKS;
  if (tasks.length + most > MAX_TASKS) {
    const message = `and the ${tasks.length} tasks of the dag are more than ${MAX_TASKS}`;
    problems.push({ path: 'maxAddedTasks', message });
  }
  checkLimits(templates, problems, 'templates');
  checkPlacement(templates, known.numbers, problems, 'templates');
  const names = new Set<string>();
  const read = templates.map((template, no): TaskSpecShape => {
    const path = `templates[${no}]`;
    if (names.has(template.name)) problems.push({ path: `${path}.name`, message: `${template.name} is duplicated` });
    if (known.numbers.has(template.name))
      problems.push({ path: `${path}.name`, message: `${template.name} is also the name of a task: use another name` });
    names.add(template.name);
    if (template.adds === true) checkWork(template, path, problems);
    const { bundle, concurrency } = definition;
    // It is in no map, as no task of this number is.
    const ofDag = { hasBundle: bundle !== undefined, concurrency: ofFunctions(concurrency) };
    const around = { taskNo: tasks.length, path, ...ofDag, ...known };
    const work = readWork(template, around, problems);
    return {
      name: template.name,
      ...work,
      queue: template.queue,
      needs: needsOf(template, path, known, problems),
      ...(template.rule === undefined ? {} : { rule: template.rule }),
      ...(template.adds === true ? { adds: true as const } : {}),
      retry: retryPolicy(template.retries),
      timeoutMs: template.timeout,
      ...limitSpec(template),
      ...placementSpec(template, known.numbers),
      ...poisonSpec(template, retryPolicy(template.retries).maxAttempts),
    };
  });
  return { templates: read, ...(maxAddedTasks === undefined ? {} : { maxAddedTasks }) };
}

type Template = NonNullable<ParsedDagDefinition['templates']>[number];

function needsOf(template: Template, path: string, known: Known, problems: Problem[]): number[] {
  const said = template.needs.map((task, i) => ({ path: `needs[${i}]`, task }));
  const found = new Set<number>();
  for (const { path: place, task } of [...said, ...tasksInInputs(template)]) {
    const no = known.numbers.get(task);
    if (no === undefined) problems.push(unknownTask(`${path}.${place}`, task));
    else if (known.isClosing(no))
      problems.push({ path: `${path}.${place}`, message: `${task} is a teardown: nothing added can wait for it` });
    else found.add(no);
  }
  return [...found].sort((a, b) => a - b);
}

function checkAdders({ tasks, templates }: ParsedDagDefinition, { groups }: Known, problems: Problem[]): void {
  tasks.forEach((task, no) => {
    if (task.adds !== true) return;
    const path = `tasks[${no}]`;
    checkWork(task, path, problems);
    if (templates === undefined)
      problems.push({ path: `${path}.adds`, message: 'has nothing to add: give the dag templates' });
    if (task.teardown !== undefined)
      problems.push({ path: `${path}.adds`, message: 'cannot be combined with teardown: the run is closing by then' });
    if (groups.mapsOf(no).length > 0)
      problems.push({
        path: `${path}.adds`,
        message: `can't be in a map: let a task behind the map add for all items`,
      });
  });
}

function checkWork(task: Pick<Template, 'http' | 'dag'>, path: string, problems: Problem[]): void {
  const kind = task.http !== undefined ? 'http' : task.dag !== undefined ? 'dag' : null;
  if (kind !== null)
    problems.push({ path: `${path}.adds`, message: `requires handler, function or run: there is no code in ${kind}` });
}
