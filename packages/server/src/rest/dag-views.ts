/** Turns rows of dags and versions into the views of the API. */
import {
  type DagSpec,
  DEFAULT_ADDED_TASKS,
  DEFAULT_MAP_SIZE,
  describeTiming,
  type EventTrigger,
  missedPolicyOf,
  type ScheduleSpec,
  showPoint,
} from '@signalbox/engine';
import {
  type DagView as DagAnswer,
  type DagDetails,
  type GroupView,
  type MapSourceShape,
  type ScheduleSettings,
  type ScheduleView,
  showPath,
  type TaskSpecView,
  type TriggerView,
  taskReference,
  type VersionSummary,
} from '@signalbox/protocol';
import type { DagView, RunView, VersionSummary as VersionRow } from '@signalbox/store';
import { toIso, toIsoOrNull } from '../iso-instants.ts';
import { localText, nextWindowOf, type ShownSchedule, zoneOf } from './next-window.ts';
import { roleOf } from './task-role.ts';
import { runSummary } from './views.ts';

/** `recent`: its newest runs, newest first. */
export function dagAnswer(dag: DagView, recent: readonly RunView[] = []): DagAnswer {
  const schedules = dag.schedules.map((schedule) => scheduleAnswer({ dagId: dag.dagId, ...schedule }));
  return {
    name: dag.name,
    version: dag.versionNo,
    hash: dag.hash,
    priority: dag.priority,
    maxActiveRuns: dag.maxActiveRuns,
    maxActiveTasks: dag.maxActiveTasks,
    ...(dag.maxActiveTasksPerRun === null ? {} : { maxActiveTasksPerRun: dag.maxActiveTasksPerRun }),
    ...concurrencyAnswer(dag.concurrency),
    taskCount: dag.taskCount,
    schedule: soonestOf(schedules) ?? schedules[0] ?? null,
    scheduleCount: dag.scheduleCount,
    description: dag.description,
    tags: [...dag.tags],
    owner: dag.owner,
    event: dag.event,
    triggers: dag.triggers.map(triggerAnswer),
    bundle: dag.bundle,
    source: dag.source,
    lastRun: recent[0] === undefined ? null : lastRunAnswer(recent[0]),
    recentRuns: recent.map(lastRunAnswer),
    deployedAt: toIso(dag.deployedAt),
    retiredAt: toIsoOrNull(dag.retiredAt),
  };
}

/** Absent where the dag does not limit its runs by key. */
export function concurrencyAnswer(concurrency: DagView['concurrency'] | undefined): Pick<DagAnswer, 'concurrency'> {
  if (concurrency == null) return {};
  const { text: key, limit, onFull } = concurrency;
  return { concurrency: { key, limit, onFull } };
}

function soonestOf(schedules: readonly ScheduleView[]): ScheduleView | undefined {
  const firing = schedules.flatMap((schedule) => (schedule.nextAt === null ? [] : [{ schedule, at: schedule.nextAt }]));
  return firing.sort((a, b) => (a.at < b.at ? -1 : 1))[0]?.schedule;
}

function lastRunAnswer(run: RunView): NonNullable<DagAnswer['lastRun']> {
  const { id, state, outcome, createdAt, endedAt } = runSummary(run);
  return { id, state, outcome, createdAt, endedAt };
}

export function scheduleAnswer(schedule: ShownSchedule & { fault: string | null }): ScheduleView {
  const { name, spec, paused, fault } = schedule;
  const next = nextWindowOf(schedule);
  const nextLocal = next === null ? null : localText(zoneOf(schedule), next);
  return { name, ...scheduleSettings(spec), paused, fault, nextAt: toIsoOrNull(next), nextLocal };
}

/** A schedule that was deployed before `overlap` existed does not have it. */
export function scheduleSettings(spec: ScheduleSpec): ScheduleSettings {
  const { anchor, at, start, end, calendar, cron, params, ...rest } = spec;
  return {
    fires: describeTiming(spec),
    ...rest,
    overlap: spec.overlap ?? 'first',
    missed: missedPolicyOf(spec),
    ifRunning: spec.ifRunning ?? 'allow',
    ...(params === undefined ? {} : { params: JSON.parse(params) as ScheduleSettings['params'] & object }),
    ...(cron === undefined ? {} : { cron: typeof cron === 'string' ? cron : [...cron] }),
    ...(anchor === undefined ? {} : { anchor: showPoint(anchor) }),
    ...(at === undefined ? {} : { at: at.map(showPoint) }),
    ...(start === undefined ? {} : { start: showPoint(start) }),
    ...(end === undefined ? {} : { end: showPoint(end) }),
    ...(calendar === undefined ? {} : { calendar: calendar as ScheduleSettings['calendar'] & object }),
  };
}

/** A condition as it was written: its tree is for the engine. */
export function triggerAnswer({ where, ...trigger }: EventTrigger): TriggerView {
  return { ...trigger, ...(where === undefined ? {} : { where: where.text }) };
}

export function versionAnswer(version: VersionRow): VersionSummary {
  return {
    version: version.versionNo,
    hash: version.hash,
    deployedAt: toIso(version.deployedAt),
    actor: version.deployedBy,
    current: version.isCurrent,
  };
}

/** The tasks, and what a failure of one of them means for the others. */
export function graphOf(
  spec: DagSpec,
): Pick<
  DagDetails,
  'onFailure' | 'compensate' | 'params' | 'groups' | 'maxMapSize' | 'tasks' | 'templates' | 'maxAddedTasks'
> {
  const params = (spec.paramsSchema as DagDetails['params'] | undefined) ?? null;
  return {
    onFailure: spec.onFailure ?? 'continue',
    compensate: spec.compensate ?? false,
    params,
    groups: groupsOf(spec),
    maxMapSize: spec.maxMapSize ?? DEFAULT_MAP_SIZE,
    tasks: tasksOf(spec, spec.tasks),
    templates: tasksOf(spec, spec.templates),
    maxAddedTasks: spec.templates === undefined ? 0 : (spec.maxAddedTasks ?? DEFAULT_ADDED_TASKS),
  };
}

function groupsOf(spec: DagSpec): GroupView[] {
  const { groups = [] } = spec;
  return groups.map(({ name, parent, map }) => ({
    name,
    group: parent === null ? null : (groups[parent]?.name ?? null),
    map:
      map === undefined
        ? null
        : {
            mode: map.mode,
            over: (map.over as readonly MapSourceShape[]).map((source) => ({
              name: source.name ?? null,
              from: sourceText(spec, source),
            })),
          },
  }));
}

/** As it was written. */
function sourceText(spec: DagSpec, source: MapSourceShape): unknown {
  if (source.from === 'list') return source.items;
  if (source.from === 'params') return `\${{ params${showPath(spec.paramFacts?.[source.fact] ?? [])} }}`;
  const task = spec.tasks[source.task];
  return taskReference(task?.name ?? '', task?.facts?.[source.fact] ?? []);
}

function tasksOf(spec: DagSpec, tasks: DagSpec['tasks'] = []): TaskSpecView[] {
  return tasks.map((task) => ({
    name: task.name,
    kind: task.child === undefined ? kindOf(task.work) : 'child',
    child: task.child ?? null,
    handler: task.handler === '' ? null : task.handler,
    queue: task.queue,
    needs: task.needs.map((no) => spec.tasks[no]?.name ?? ''),
    rule: task.rule ?? 'all_success',
    when: task.when?.text ?? null,
    branch: task.branch ?? false,
    shortCircuit: task.shortCircuit ?? null,
    setup: task.setup ?? false,
    adds: task.adds ?? false,
    group: task.group === undefined ? null : (spec.groups?.[task.group]?.name ?? null),
    role: roleOf(task),
    of: spec.tasks[task.undoes ?? task.hook?.of ?? -1]?.name ?? null,
    retries: task.retry,
    past: task.past ?? null,
    timeoutMs: task.timeoutMs,
    limits: limitsOf(task),
    work: (task.work as TaskSpecView['work'] | undefined) ?? null,
  }));
}

function limitsOf(task: DagSpec['tasks'][number]): TaskSpecView['limits'] {
  const { memoryBytes, onResource, maxActive, rate, pool, queueTimeoutMs, stuckMs, totalTimeoutMs, softTimeoutMs } =
    task;
  const { resources, labels, exclusive, spot, gang } = task.placement ?? {};
  const all = {
    memoryBytes,
    onResource,
    maxActive,
    rate,
    pool,
    resources,
    labels,
    exclusive,
    spot,
    gang,
    queueTimeoutMs,
    stuckMs,
    totalTimeoutMs,
    softTimeoutMs,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function kindOf(work: unknown): TaskSpecView['kind'] {
  return (work as { readonly kind?: TaskSpecView['kind'] } | undefined)?.kind ?? 'handler';
}
