/** Printed after a run that did not succeed: which task, why, its last log lines, and what to type next. */
import { counted } from '@signalbox/protocol';
import type { Client, LogLine, RunView, TaskView } from '@signalbox/sdk';
import { show } from '../commands/logs.ts';
import { failedInstances } from '../instances.ts';
import { colours, plain, print } from '../output.ts';
import { next } from '../program-name.ts';
import { explainChild, failedChild } from './child-failure.ts';
import { lastLines } from './last-lines.ts';
import { readableError, readableLine } from './readable.ts';

const TASKS_SHOWN = 3;
const LINES_SHOWN = 20;
const INSTANCES_ASKED = 20;
const ERROR_LINES = 12;

export async function explainFailure(client: Client, run: RunView): Promise<void> {
  const all = await failedTasks(client, run);
  // What closes the run does not decide it: it is told of only where nothing else failed, such as a hook before a task.
  const ordinary = all.filter(({ role }) => role === 'task');
  const failed = ordinary.length > 0 ? ordinary : all;
  for (const task of failed.slice(0, TASKS_SHOWN)) {
    print('');
    print(`${colours.red(`✖ task ${plain(task.name)} failed`)}${kindOf(task)}:`);
    print(indented(task.error ?? 'no error message'));
    const child = failedChild(task);
    if (child === null) await showLog(client, run, task);
    else await explainChild(client, child);
  }
  if (failed.length > TASKS_SHOWN) print(`\n… and ${counted(failed.length - TASKS_SHOWN, 'more task')} failed`);
  print('');
  for (const [command, does] of nextSteps(run, failed)) print(`${colours.dim(does)}  ${colours.cyan(next(command))}`);
}

/** Of a mapped task its instances, unless the map itself failed. */
async function failedTasks(client: Client, run: RunView): Promise<TaskView[]> {
  const hasFailed = ({ instances }: TaskView) => (instances?.states.failed ?? 0) > 0;
  const failed = run.tasks.filter((task) => task.state === 'failed' && !hasFailed(task));
  if (!run.tasks.some(hasFailed)) return failed;
  return [...failed, ...(await failedInstances(client, run.id, INSTANCES_ASKED).catch(() => []))];
}

/** `in attempt 3 (timeout, timeout:attempt)`; a task may fail without one. */
function kindOf({ attempt, outcome, code }: TaskView): string {
  const kind = [outcome, code].filter((word) => word !== null).join(', ');
  return `${attempt === 0 ? '' : ` in attempt ${attempt}`}${kind === '' ? '' : ` (${plain(kind)})`}`;
}

async function showLog(client: Client, run: RunView, task: TaskView): Promise<void> {
  const attempt = { run: run.id, task: task.name, attempt: Math.max(1, task.attempt) };
  const lines: LogLine[] = await lastLines(client, attempt, LINES_SHOWN).catch(() => []);
  if (lines.length === 0) return print(colours.dim('  its log is empty'));
  print(colours.dim(`  last ${lines.length === 1 ? 'line' : `${lines.length} lines`} of its log:`));
  for (const line of lines) show({ ...line, stream: streamOf(line), text: `  │ ${readableLine(line)}` }, {});
}

/** Already made readable: what comes through the context is shown as what was printed. */
const streamOf = ({ stream }: LogLine): LogLine['stream'] => (stream === 'log' ? 'stdout' : stream);

function nextSteps(run: RunView, failed: readonly TaskView[]): (readonly [string, string])[] {
  const [first] = failed;
  if (run.outcome === 'cancelled' || first === undefined) return [[`runs show ${run.id}`, 'look at it:']];
  return [
    // A task that ran another dag has no log: its run has.
    ...(failedChild(first) === null ? [[`logs ${run.id} ${first.name}`, 'its whole log:       '] as const] : []),
    [`runs retry ${run.id} --wait`, 'again, same code:    '],
  ];
}

function indented(error: string): string {
  const lines = readableError(error).map(plain);
  const shown = lines.slice(0, ERROR_LINES).map((line) => `  ${line}`);
  return [...shown, ...(lines.length > ERROR_LINES ? ['  …'] : [])].join('\n');
}
