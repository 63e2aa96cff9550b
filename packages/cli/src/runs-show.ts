/** `signalbox runs show`. */
import type { RunView, TaskView } from '@signalbox/sdk';
import { type ConnectionFlags, connect } from './connection.ts';
import { coloured, colours, plain, print, printJson, table } from './output.ts';

const TASKS_SHOWN = 100;
const LONGEST_CELL = 100;

export async function show(id: string, flags: ConnectionFlags & { readonly json?: boolean }): Promise<void> {
  const run = await (await connect(flags)).getRun(id);
  if (flags.json) printJson(run);
  else showRun(run);
}

export function showRun(run: RunView): void {
  const ended = run.endedAt === null ? '' : ` after ${spanOf(run.createdAt, run.endedAt)}`;
  print(`${colours.bold(run.dag)} version ${run.version}, run ${run.id}`);
  print(`${coloured(run.outcome ?? run.state)}${ended}; created ${run.createdAt} by ${plain(run.actor)}`);
  const rows = run.tasks
    .slice(0, TASKS_SHOWN)
    .map((task) => [task.name, coloured(task.state), tries(task), told(task)]);
  print(table(['task', 'state', 'attempts', 'came to'], rows));
  const more = run.tasks.length - TASKS_SHOWN;
  if (more > 0) print(colours.dim(`… and ${more} more tasks; --json shows all of them`));
}

const tries = (task: TaskView): string => (task.attempt === 0 ? '' : String(task.attempt));

function told(task: TaskView): string {
  // The first line says what; the rest, where, is in --json.
  if (task.error !== null) return cut(plain(task.error.split('\n', 1)[0] ?? ''));
  if (task.retryAt !== null) return `tried again at ${task.retryAt}`;
  return task.output === null || task.output === undefined ? '' : cut(plain(JSON.stringify(task.output)));
}

const cut = (text: string): string => (text.length > LONGEST_CELL ? `${text.slice(0, LONGEST_CELL)}…` : text);

export function spanOf(from: string, to: string): string {
  const ms = Math.max(0, Date.parse(to) - Date.parse(from));
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}
