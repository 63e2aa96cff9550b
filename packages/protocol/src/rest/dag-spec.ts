/** From a definition to what the engine runs: tasks by number. What comes out of here can be run (I38). */
import { createHash } from 'node:crypto';
import { type Problem, SignalboxError } from '../errors.ts';
import { MAX_EDGES, MAX_PROBLEMS } from '../limits.ts';
import { breakerSpec, poisonSpec } from './breaker-fields.ts';
import { checkAssets } from './check-assets.ts';
import { checkGangs } from './check-gang.ts';
import { checkSpeculate } from './check-speculate.ts';
import { problemsOf } from './common.ts';
import { ofFunctions, readConcurrency } from './concurrency-fields.ts';
import { dagDefinitionSchema, type ParsedDagDefinition } from './dag-definition.ts';
import type { DagSpecShape, TaskSpecShape } from './dag-spec-shape.ts';
import { Facts } from './facts.ts';
import { findCycle } from './find-cycle.ts';
import { readPast } from './past-fields.ts';
import { checkPlacement, placementSpec } from './placement-fields.ts';
import { readAdding } from './read-adding.ts';
import { readClosing } from './read-closing.ts';
import { readExpect } from './read-expect.ts';
import { checkGraph, graphFields, readConditions } from './read-graph.ts';
import { type GroupSpecShape, type ReadGroups, readGroups } from './read-groups.ts';
import { readParamsSchema } from './read-params-schema.ts';
import { readSchedules } from './read-schedules.ts';
import { readTriggers, triggerList } from './read-triggers.ts';
import { readWork, tasksInInputs } from './read-work.ts';
import { retryPolicy } from './retries.ts';
import { speculateSpec } from './speculate-fields.ts';
import { checkLimits, checkTimes, limitSpec, rateSpec } from './task-limits.ts';
import { unknownTask } from './unknown-task.ts';

/** Numbers by name; a name that occurs twice is a problem, at its second place. */
function numberTasks(tasks: ParsedDagDefinition['tasks'], problems: Problem[]): Map<string, number> {
  const numbers = new Map<string, number>();
  tasks.forEach(({ name }, no) => {
    const first = numbers.get(name);
    if (first === undefined) numbers.set(name, no);
    else
      problems.push({
        path: `tasks[${no}].name`,
        message: `${name} is the name of tasks[${first}] too`,
        cause: { code: 'task_name_taken' },
      });
  });
  return numbers;
}

function resolveNeeds(
  task: ParsedDagDefinition['tasks'][number],
  taskNo: number,
  numbers: ReadonlyMap<string, number>,
  looksAt: ReadonlySet<number> | undefined,
  problems: Problem[],
): number[] {
  const needs = new Set<number>();
  task.needs.forEach((name, i) => {
    const path = `tasks[${taskNo}].needs[${i}]`;
    const no = numbers.get(name);
    if (no === undefined) problems.push(unknownTask(path, name));
    else if (no === taskNo) problems.push({ path, message: `${name} needs itself` });
    else if (needs.has(no)) problems.push({ path, message: `${name} is named twice` });
    else needs.add(no);
  });
  for (const { path: place, task: name } of tasksInInputs(task)) {
    const no = numbers.get(name);
    const path = `tasks[${taskNo}].${place}`;
    if (no === undefined) problems.push(unknownTask(path, name));
    else if (no === taskNo) problems.push({ path, message: `${name} needs itself` });
    else needs.add(no); // An input says enough: it need not be named under needs as well.
  }
  for (const no of looksAt ?? []) needs.add(no); // So does a condition.
  return [...needs].sort((a, b) => a - b);
}

function refuseIf(problems: readonly Problem[], dag: string): void {
  if (problems.length > 0) throw new SignalboxError('DAG_INVALID', { dag, problems: problems.slice(0, MAX_PROBLEMS) });
}

/** The dag's name for a message about a definition that may be anything at all. */
const nameIn = (input: unknown): string =>
  typeof input === 'object' && input !== null && 'name' in input && typeof input.name === 'string' ? input.name : '';

export function parseDagDefinition(input: unknown): ParsedDagDefinition {
  const parsed = dagDefinitionSchema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new SignalboxError('DAG_INVALID', { dag: nameIn(input), problems: problemsOf(parsed.error) });
}

/** Throws DAG_INVALID with the place of each fault: of shape, name, reference, cycle or size. */
export function toDagSpec(input: unknown): { readonly name: string; readonly spec: DagSpecShape } {
  const definition = parseDagDefinition(input);
  const { name: dag, tasks } = definition;
  const problems: Problem[] = [];

  const edges = tasks.reduce((sum, task) => sum + task.needs.length, 0);
  if (edges > MAX_EDGES)
    problems.push({ path: 'tasks', message: `have ${edges} needs in all; ${MAX_EDGES} are allowed` });
  refuseIf(problems, dag);

  const numbers = numberTasks(tasks, problems);
  const facts = new Facts();
  const groups = readGroups(definition, numbers, facts, problems);
  refuseIf(problems, dag); // What follows asks where tasks are, which must be clear by now.
  const conditions = readConditions(tasks, { numbers, groups, facts, onFailure: definition.onFailure }, problems);
  const needs = tasks.map((task, no) => resolveNeeds(task, no, numbers, conditions.looksAt.get(no), problems));
  const ofDag = { hasBundle: definition.bundle !== undefined, concurrency: ofFunctions(definition.concurrency) };
  const works = tasks.map((task, no) => readWork(task, { taskNo: no, ...ofDag, numbers, groups }, problems));
  const params = readParamsSchema(definition, problems);
  const triggers = readTriggers(definition.on, params.paramsSchema, problems);
  const expected = readExpect(definition, problems);
  checkAssets(tasks, groups, triggerList(triggers.on), problems);
  const schedules = readSchedules(definition, params.paramsSchema, problems);
  checkGraph(tasks, needs, groups, problems);
  checkLimits(tasks, problems);
  checkPlacement(tasks, numbers, problems);
  checkSpeculate(tasks, groups, problems);
  checkGangs(definition, problems);
  const past = readPast(definition, problems);
  const concurrency = readConcurrency(definition.concurrency, problems);
  checkTimes(definition, '', problems);
  refuseIf(problems, dag);

  const cycle = findCycle(needs) ?? findCycle(groups.withSources(needs));
  if (cycle !== null) {
    const path = mapInCycle(cycle, needs, groups) ?? `tasks[${cycle[0]}].needs`;
    problems.push({ path, message: `form a cycle: ${describeCycle(cycle, tasks)}`, cause: { code: 'cycle' } });
  }
  refuseIf(problems, dag);
  const closing = readClosing(definition, { numbers, groups, needs, works }, problems);
  refuseIf(problems, dag);
  const isClosing = (no: number) => tasks[no]?.teardown !== undefined;
  const adding = readAdding(definition, { numbers, groups, isClosing }, problems);
  refuseIf(problems, dag);

  const own = tasks.map((task, no) => ({
    name: task.name,
    ...(works[no] ?? { handler: '' }),
    queue: task.queue,
    needs: closing.needs[no] ?? [],
    retry: retryPolicy(task.retries),
    timeoutMs: task.timeout,
    ...graphFields(task, no, conditions, facts),
    ...closing.fieldsOf(no),
    ...groups.fieldsOf(no),
    ...(task.adds === true ? { adds: true as const } : {}),
    ...limitSpec(task),
    ...(task.maxActive === undefined ? {} : { maxActive: task.maxActive }),
    ...rateSpec(task.rate),
    ...placementSpec(task, numbers),
    ...poisonSpec(task, retryPolicy(task.retries).maxAttempts),
    ...speculateSpec(task),
    ...(past[no] === undefined ? {} : { past: past[no] }),
    ...(task.produces === undefined ? {} : { produces: task.produces }),
  }));
  const spec: DagSpecShape = {
    tasks: [...own, ...closing.added],
    priority: definition.priority,
    maxActiveRuns: definition.maxActiveRuns,
    maxActiveTasks: definition.maxActiveTasks,
    ...(definition.maxActiveTasksPerRun === undefined ? {} : { maxActiveTasksPerRun: definition.maxActiveTasksPerRun }),
    ...rateSpec(definition.rate),
    ...concurrency,
    ...schedules,
    ...(definition.description === undefined ? {} : { description: definition.description }),
    ...(definition.tags === undefined || definition.tags.length === 0 ? {} : { tags: definition.tags }),
    ...(definition.owner === undefined ? {} : { owner: definition.owner }),
    ...(definition.bundle === undefined ? {} : { bundle: definition.bundle }),
    ...(definition.files === undefined ? {} : { files: definition.files }),
    ...triggers,
    ...expected,
    ...(definition.onFailure === undefined || definition.onFailure === 'continue'
      ? {}
      : { onFailure: definition.onFailure }),
    ...breakerSpec(definition),
    ...(definition.retryRun === undefined
      ? {}
      : { retryRun: { maxTimes: definition.retryRun.maxTimes, delayMs: definition.retryRun.delay } }),
    ...(definition.timeout === undefined ? {} : { timeoutMs: definition.timeout }),
    ...(definition.softTimeout === undefined ? {} : { softTimeoutMs: definition.softTimeout }),
    ...(definition.compensate === true ? { compensate: true as const } : {}),
    ...params,
    ...(definition.callbackUrl === undefined ? {} : { callbackUrl: definition.callbackUrl }),
    ...(facts.paramPaths.length === 0 ? {} : { paramFacts: facts.paramPaths }),
    ...(groups.specs.length === 0 ? {} : { groups: groups.specs }),
    ...(definition.maxMapSize === undefined ? {} : { maxMapSize: definition.maxMapSize }),
    ...adding,
  };
  return { name: dag, spec };
}

/** Where the map is written that closes the circle; null when needs alone do. */
function mapInCycle(
  cycle: readonly number[],
  needs: readonly (readonly number[])[],
  groups: ReadGroups,
): string | null {
  for (const [i, task] of cycle.entries()) {
    const next = cycle[(i + 1) % cycle.length] ?? task;
    if (needs[task]?.includes(next) !== true) return groups.placeOfMap(task, next);
  }
  return null;
}

/** The mapped groups that a task of a spec is in, outermost first. */
export function mapsAround(spec: DagSpecShape, { group }: TaskSpecShape): readonly GroupSpecShape[] {
  const maps: GroupSpecShape[] = [];
  for (let no: number | null = group ?? null; no !== null; no = spec.groups?.[no]?.parent ?? null) {
    const found = spec.groups?.[no];
    if (found?.map !== undefined) maps.push(found);
  }
  return maps.reverse();
}

const SHOWN_OF_CYCLE = 12;

function describeCycle(cycle: readonly number[], tasks: ParsedDagDefinition['tasks']): string {
  const names = cycle.map((no) => tasks[no]?.name ?? '');
  const shown =
    names.length > SHOWN_OF_CYCLE ? [...names.slice(0, SHOWN_OF_CYCLE), `… ${names.length} tasks …`] : names;
  return [...shown, names[0]].join(' needs ');
}

/** Keys in order, nothing left to formatting: two texts that mean the same become one. */
export function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, canonical(inner)]),
  );
}

/** Names a version of a dag by its meaning: 64 hex digits. Order of keys, left-out defaults and order of needs do not count. */
export function contentHash(spec: DagSpecShape): string {
  return createHash('sha256')
    .update(JSON.stringify(canonical(spec)))
    .digest('hex');
}
