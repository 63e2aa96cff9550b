/** Turns rows of dags and versions into the views of the API. */
import {
  type DagSpec,
  DEFAULT_ADDED_TASKS,
  DEFAULT_MAP_SIZE,
  describeTiming,
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
  taskReference,
  type VersionSummary,
} from '@signalbox/protocol';
import type { DagView, RunView, VersionSummary as VersionRow } from '@signalbox/store';
import { toIso, toIsoOrNull } from '../iso-instants.ts';
import { nextWindowOf, type ShownSchedule } from './next-window.ts';
import { roleOf } from './task-role.ts';
import { runSummary } from './views.ts';

/** `recent`: its newest runs, newest first. */
export function dagAnswer(dag: DagView, recent: readonly RunView[] = []): DagAnswer {
  const { schedule } = dag;
  return {
    name: dag.name,
    version: dag.versionNo,
    hash: dag.hash,
    priority: dag.priority,
    maxActiveRuns: dag.maxActiveRuns,
    maxActiveTasks: dag.maxActiveTasks,
    taskCount: dag.taskCount,
    schedule: schedule === null ? null : scheduleAnswer({ dagId: dag.dagId, ...schedule }),
    description: dag.description,
    event: dag.event,
    bundle: dag.bundle,
    source: dag.source,
    lastRun: recent[0] === undefined ? null : lastRunAnswer(recent[0]),
    recentRuns: recent.map(lastRunAnswer),
    deployedAt: toIso(dag.deployedAt),
    retiredAt: toIsoOrNull(dag.retiredAt),
  };
}

function lastRunAnswer(run: RunView): NonNullable<DagAnswer['lastRun']> {
  const { id, state, outcome, createdAt, endedAt } = runSummary(run);
  return { id, state, outcome, createdAt, endedAt };
}

export function scheduleAnswer(schedule: ShownSchedule & { fault: string | null }): ScheduleView {
  const { name, spec, paused, fault } = schedule;
  return { name, ...scheduleSettings(spec), paused, fault, nextAt: toIsoOrNull(nextWindowOf(schedule)) };
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
    timeoutMs: task.timeoutMs,
    work: (task.work as TaskSpecView['work'] | undefined) ?? null,
  }));
}

function kindOf(work: unknown): TaskSpecView['kind'] {
  return (work as { readonly kind?: TaskSpecView['kind'] } | undefined)?.kind ?? 'handler';
}
