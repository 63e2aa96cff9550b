/**
 * From what a definition says of teardowns, undos and hooks to tasks of the spec. An undo or a hook is a task of its own, behind
 * those that the user has named, with a name that says whose it is: `charge:undo`, `charge:on_failure`, `run:after`.
 */
import type { Problem } from '../errors.ts';
import { MAX_TASKS } from '../limits.ts';
import { HOOK_EVENTS } from '../words.ts';
import type { HookEvent, Hooks, SideTask } from './closing.ts';
import { behind, withScopes } from './closing-scope.ts';
import { ofFunctions } from './concurrency-fields.ts';
import type { ParsedDagDefinition } from './dag-definition.ts';
import type { TaskSpecShape } from './dag-spec-shape.ts';
import { findCycle } from './find-cycle.ts';
import type { ReadGroups } from './read-groups.ts';
import { type ReadWork, readWork, tasksInInputs } from './read-work.ts';
import { retryPolicy } from './retries.ts';
import type { InputSource } from './template.ts';
import { unknownTask } from './unknown-task.ts';

/** Under this name a hook finds what has happened, among the outputs that it sees. No task can have it. */
export const EVENT_TASK = '@event';
const TOLD = ['event', 'task', 'outcome', 'attempt', 'error', 'failed'] as const;

interface Known {
  readonly numbers: ReadonlyMap<string, number>;
  readonly groups: ReadGroups;
  readonly needs: readonly (readonly number[])[];
  readonly works: readonly ReadWork[];
}

interface ReadClosing {
  /** What each task waits for: more than it says, for a teardown. */
  readonly needs: readonly (readonly number[])[];
  fieldsOf(task: number): Pick<TaskSpecShape, 'setup' | 'teardown'>;
  /** Undos and hooks. */
  readonly added: readonly TaskSpecShape[];
}

export function readClosing(definition: ParsedDagDefinition, known: Known, problems: Problem[]): ReadClosing {
  const { tasks } = definition;
  const teardowns = readTeardowns(definition, known, problems);
  const added = [...readUndos(definition, known, problems), ...readHooks(definition, known, problems)];
  if (tasks.length + added.length > MAX_TASKS) {
    const message = `are ${tasks.length + added.length} with their undos and hooks; ${MAX_TASKS} are allowed`;
    problems.push({ path: 'tasks', message });
  }
  const setups = new Set([...teardowns.values()].flat());
  const { groups } = known;
  const needs = withScopes(known.needs, teardowns, {
    edges: groups.withSources(known.needs),
    isInside: (no, of) => !groups.isList(of, no),
  });
  const cycle = teardowns.size === 0 ? null : findCycle(needs);
  if (cycle !== null) {
    const names = [...cycle, cycle[0] ?? 0].map((no) => tasks[no]?.name);
    const message = `form a cycle: ${names.join(' waits for ')}`;
    problems.push({ path: `tasks[${cycle[0]}].teardown`, message, cause: { code: 'cycle' } });
  }
  return {
    needs,
    fieldsOf(no) {
      const teardown = teardowns.get(no);
      const isSetup = tasks[no]?.setup === true || setups.has(no);
      return { ...(isSetup ? { setup: true as const } : {}), ...(teardown === undefined ? {} : { teardown }) };
    },
    added,
  };
}

/** The setups of each teardown. */
function readTeardowns(
  { tasks }: ParsedDagDefinition,
  { numbers, groups, needs }: Known,
  problems: Problem[],
): Map<number, readonly number[]> {
  const found = new Map<number, readonly number[]>();
  tasks.forEach((task, no) => {
    if (task.teardown === undefined) return;
    const path = `tasks[${no}].teardown`;
    const names = task.teardown === true ? [] : [task.teardown].flat();
    const setups = names.flatMap((name) => {
      const setup = numbers.get(name);
      if (setup === undefined) problems.push(unknownTask(path, name));
      else if (setup === no) problems.push({ path, message: `${name} can't take down itself` });
      else if (tasks[setup]?.teardown !== undefined)
        problems.push({ path, message: `${name} is a teardown itself: name the task that makes something` });
      else return [setup];
      return [];
    });
    found.set(
      no,
      [...new Set(setups)].sort((a, b) => a - b),
    );
    for (const field of ['rule', 'when', 'branch', 'shortCircuit', 'setup', 'undo', 'hooks'] as const) {
      if (task[field] === undefined || task[field] === false) continue;
      problems.push({ path: `tasks[${no}].${field}`, message: `cannot be combined with teardown: ${WHY_NOT[field]}` });
    }
    if (task.map !== undefined) {
      problems.push({ path, message: 'has no map of its own: put it into the group of what it takes down' });
    } else checkMap(tasks, no, setups, groups, problems);
    if (task.teardown === true && (needs[no]?.length ?? 0) === 0)
      problems.push({ path, message: 'has nothing to wait for: name its setups, or give it needs' });
  });
  needs.forEach((of, no) => {
    if (found.has(no)) return;
    const wrong = of.find((up) => found.has(up));
    if (wrong === undefined) return;
    const message = `${tasks[wrong]?.name} is a teardown: only another teardown may wait for it, for it may come when the run's outcome is fixed`;
    problems.push({ path: `tasks[${no}].needs`, message });
  });
  for (const [no, setups] of found) {
    for (const setup of setups) {
      if (behind(no, needs).has(setup)) {
        problems.push({ path: `tasks[${no}].teardown`, message: `${tasks[setup]?.name} comes after it` });
      }
    }
  }
  return found;
}

/** In a map it runs for each item, and takes down what was made for that. */
function checkMap(
  tasks: ParsedDagDefinition['tasks'],
  no: number,
  setups: readonly number[],
  groups: ReadGroups,
  problems: Problem[],
): void {
  const path = `tasks[${no}].teardown`;
  const outside = setups.find((setup) => groups.isList(no, setup));
  if (outside !== undefined) {
    const message = `${tasks[outside]?.name} is created once, but this would run for each item: put it next to ${tasks[outside]?.name}`;
    problems.push({ path, message });
  }
  const isCompany = (other: number) => tasks[other]?.teardown === undefined && !groups.isList(no, other);
  if (groups.mapsOf(no).length > 0 && !tasks.some((_, other) => isCompany(other))) {
    problems.push({ path, message: 'is alone in its map: put it into the group of what it takes down' });
  }
}

const WHY_NOT = {
  rule: 'it runs when what it needs has ended, in whatever way, and a setup succeeded',
  when: 'it runs whenever a setup succeeded',
  branch: 'only other teardowns can need it',
  shortCircuit: 'only other teardowns can need it',
  setup: 'make them two tasks',
  undo: 'nothing undoes a teardown',
  hooks: 'it closes the run itself',
} as const;

function readUndos(definition: ParsedDagDefinition, known: Known, problems: Problem[]): TaskSpecShape[] {
  const undoable = definition.tasks.flatMap((task, no) => (task.undo === undefined ? [] : [{ task, no }]));
  if (definition.compensate === true && undoable.length === 0) {
    problems.push({ path: 'compensate', message: 'has nothing to undo: give tasks an undo' });
  }
  return undoable.flatMap(({ task, no }) => {
    const path = `tasks[${no}].undo`;
    if (definition.compensate !== true) {
      problems.push({ path, message: 'would never run: set compensate: true on the dag' });
    }
    const own = known.works[no]?.work?.inputs ?? {};
    const output: InputSource = { from: 'task', task: task.name, path: [] };
    const given = { ...own, ...('output' in own ? {} : { output }) };
    const spec = sideTask(
      definition,
      known,
      { name: `${task.name}:undo`, side: task.undo!, path, of: no, given },
      problems,
    );
    return [{ ...spec, undoes: no }];
  });
}

function readHooks(definition: ParsedDagDefinition, known: Known, problems: Problem[]): TaskSpecShape[] {
  const given = Object.fromEntries(
    TOLD.map((field) => [field, { from: 'task', task: EVENT_TASK, path: [field] } satisfies InputSource]),
  );
  const make = (hooks: Hooks | undefined, of: number | null): TaskSpecShape[] =>
    HOOK_EVENTS.flatMap(({ on, field, suffix }) => {
      const side = hooks?.[field];
      if (side === undefined) return [];
      const path = `${of === null ? '' : `tasks[${of}].`}hooks.${field}`;
      if (on === 'slow') checkSlow(definition, of, path, problems);
      const name = `${of === null ? 'run' : definition.tasks[of]?.name}:${suffix}`;
      const hook: { of: number | null; on: HookEvent } = { of, on };
      return [{ ...sideTask(definition, known, { name, side, path, of, given }, problems), hook }];
    });
  const added = [...definition.tasks.flatMap(({ hooks }, no) => make(hooks, no)), ...make(definition.hooks, null)];
  const names = new Set<string>();
  for (const { name } of added) {
    if (names.has(name)) {
      const message = `of a task named run would be called as those of the dag: give the task another name`;
      problems.push({ path: 'hooks', message });
    }
    names.add(name);
  }
  return added;
}

/** Without a soft timeout nothing is ever slow. */
function checkSlow(definition: ParsedDagDefinition, of: number | null, path: string, problems: Problem[]): void {
  const { softTimeout } = of === null ? definition : (definition.tasks[of] ?? definition);
  if (softTimeout !== undefined) return;
  const whom = of === null ? 'the dag' : 'the task';
  problems.push({
    path,
    message: `would never run: give ${whom} a softTimeout, such as 10m, after which it counts as slow`,
  });
}

interface Side {
  readonly name: string;
  readonly side: SideTask;
  readonly path: string;
  readonly of: number | null;
  /** Inputs that it has unless it has others of these names. */
  readonly given: Readonly<Record<string, InputSource>>;
}

function sideTask(
  definition: ParsedDagDefinition,
  { numbers, groups, needs }: Known,
  { name, side, path, of, given }: Side,
  problems: Problem[],
): TaskSpecShape {
  const sees = new Set(of === null ? [] : [of, ...(needs[of] ?? [])]);
  for (const { path: place, task } of tasksInInputs(side)) {
    const no = numbers.get(task);
    if (no !== undefined && sees.has(no)) continue;
    const of = [...sees].map((each) => definition.tasks[each]?.name).join(', ');
    const sight = `; it sees ${of === '' ? 'params only' : of}`;
    if (no === undefined) problems.push(unknownTask(`${path}.${place}`, task, sight));
    else problems.push({ path: `${path}.${place}`, message: `does not see the output of ${task}${sight}` });
  }
  const { bundle, concurrency } = definition;
  const ofDag = { hasBundle: bundle !== undefined, concurrency: ofFunctions(concurrency) };
  const around = { taskNo: of ?? 0, path, ...ofDag, numbers, groups };
  const { handler, work, runInfo } = readWork(side, around, problems);
  const inputs = { ...given, ...work?.inputs };
  return {
    name,
    // In a map it runs for each item that its task runs for.
    ...(of === null ? {} : groups.fieldsOf(of)),
    ...(runInfo === undefined ? {} : { runInfo }),
    handler,
    work: { ...(work ?? { kind: 'handler' }), inputs },
    queue: side.queue ?? (of === null ? 'default' : (definition.tasks[of]?.queue ?? 'default')),
    needs: [],
    retry: retryPolicy(side.retries),
    timeoutMs: side.timeout,
  };
}
