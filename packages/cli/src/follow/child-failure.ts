/** A task that ran another dag failed because that run did: which of its tasks, with which error, and how to see more. */
import type { Client, RunView, TaskView } from '@signalbox/sdk';
import { colours, plain, print } from '../output.ts';
import { next } from '../program-name.ts';
import { readableError } from './readable.ts';

/** A child may fail because of a child of its own. */
const DEEPEST = 3;
const TASKS_SHOWN = 3;
const ERROR_LINES = 3;

/** The run that a failed task has made; null for any other task. */
export function failedChild({ state, child }: TaskView): string | null {
  return state === 'failed' ? (child?.run ?? null) : null;
}

export async function explainChild(client: Client, id: string, depth = 1): Promise<void> {
  const run = await client.getRun(id).catch(() => null);
  if (run === null) return; // removed by retention: the error of the task names it
  const indent = '  '.repeat(depth);
  for (const task of ownFailures(run).slice(0, TASKS_SHOWN)) {
    const [line = 'no error message', ...rest] = readableError(task.error ?? '').map(plain);
    print(`${indent}${colours.red(`✖ task ${plain(task.name)} of ${plain(run.dag)} failed`)}: ${line}`);
    for (const more of rest.slice(0, ERROR_LINES - 1)) print(`${indent}  ${more}`);
    const child = failedChild(task);
    if (child !== null && depth < DEEPEST) await explainChild(client, child, depth + 1);
  }
  print(`${indent}${colours.dim('failed run:')}  ${colours.cyan(next(`runs show ${run.id}`))}`);
}

const ownFailures = ({ tasks }: RunView): TaskView[] =>
  tasks.filter(({ state, role, error }) => state === 'failed' && role === 'task' && error !== null);
