/** What a definition says about dependence on the past: tasks that wait for the same task of the window before. */
import { z } from 'zod';
import type { Problem } from '../errors.ts';

/** Of a task, and of a dag for all its tasks that do not say otherwise. */
export const pastFields = {
  /** In a run for a window: waits until the same task of the window before has succeeded or was skipped. */
  dependsOnPast: z.boolean().optional(),
  /** And until the tasks directly downstream of that one have, too. */
  waitForDownstream: z.boolean().optional(),
} as const;

const fieldsSchema = z.object(pastFields);
type PastFields = z.output<typeof fieldsSchema>;

type Past = 'task' | 'downstream';

interface Definition extends PastFields {
  readonly tasks: readonly (PastFields & { readonly teardown?: unknown })[];
  readonly schedule: { readonly ifRunning?: string | undefined } | null;
  readonly schedules?: readonly { readonly ifRunning?: string | undefined }[] | undefined;
  readonly concurrency?: number | { readonly onFull: string } | undefined;
}

/** By task: what it waits for, if anything. Contradictions become problems. */
export function readPast(definition: Definition, problems: Problem[]): readonly (Past | undefined)[] {
  checkFields(definition, '', problems);
  const past = definition.tasks.map((task, no) => {
    const isOwn = task.dependsOnPast !== undefined || task.waitForDownstream !== undefined;
    const path = `tasks[${no}].`;
    if (task.teardown !== undefined) {
      if (isOwn) problems.push({ path: `${path}dependsOnPast`, message: 'is not for a teardown, which always runs' });
      return undefined;
    }
    checkFields(task, path, problems);
    return howOf(isOwn ? task : definition);
  });
  if (past.some((how) => how !== undefined)) {
    checkSchedules(definition, problems);
    checkConcurrency(definition, problems);
  }
  return past;
}

function howOf({ dependsOnPast, waitForDownstream }: PastFields): Past | undefined {
  if (waitForDownstream === true) return 'downstream';
  return dependsOnPast === true ? 'task' : undefined;
}

function checkFields({ dependsOnPast, waitForDownstream }: PastFields, path: string, problems: Problem[]): void {
  if (dependsOnPast !== false || waitForDownstream !== true) return;
  const message = 'includes dependsOnPast, which is false here. Remove one of the two';
  problems.push({ path: `${path}waitForDownstream`, message });
}

function checkSchedules({ schedule, schedules = [] }: Definition, problems: Problem[]): void {
  const message =
    'cancel_running cancels the run that tasks with dependsOnPast wait for, so they would wait for ever. Use queue_one or queue_all';
  if (schedule?.ifRunning === 'cancel_running') problems.push({ path: 'schedule.ifRunning', message });
  schedules.forEach(({ ifRunning }, no) => {
    if (ifRunning === 'cancel_running') problems.push({ path: `schedules[${no}].ifRunning`, message });
  });
}

function checkConcurrency({ concurrency }: Definition, problems: Problem[]): void {
  if (concurrency === undefined || typeof concurrency === 'number') return;
  const { onFull } = concurrency;
  if (onFull !== 'cancel_running' && onFull !== 'cancel_new') return;
  const message = `${onFull} cancels runs that tasks with dependsOnPast wait for, so they would wait for ever. Use queue or skip`;
  problems.push({ path: 'concurrency.onFull', message });
}

/** What editors show of it. */
export const PAST_WORDS = {
  dependsOnPast: { description: 'Default for all tasks of the dag: see dependsOnPast of a task.' },
  waitForDownstream: { description: 'Default for all tasks of the dag: see waitForDownstream of a task.' },
  'tasks[].dependsOnPast': {
    description:
      'In a run for a window: waits until the same task of the previous window with a run has succeeded or was skipped. The first window does not wait.',
  },
  'tasks[].waitForDownstream': {
    description: 'Like dependsOnPast, and also waits for the tasks directly downstream of the earlier one.',
  },
} as const;
