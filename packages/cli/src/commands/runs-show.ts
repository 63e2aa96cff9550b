/** `signalbox runs show`. */
import type { Client, RunView, TaskView } from '@signalbox/sdk';
import { type ClientFlags, connect } from '../connection.ts';
import { explainChild, failedChild } from '../follow/child-failure.ts';
import { countsText, failedInstances, tasksOf } from '../instances.ts';
import { coloured, colours, plain, print, printJson, short, spanBetween, table } from '../output.ts';
import { progressText } from '../progress.ts';
import { resolveRun } from '../run-id.ts';
import { whyText } from '../why-text.ts';

const TASKS_SHOWN = 100;
const INSTANCES_SHOWN = 20;
const NAMES_SHOWN = 10;

export interface ShowFlags extends ClientFlags {
  readonly all?: boolean;
}

export async function show(given: string, flags: ShowFlags): Promise<void> {
  const client = await connect(flags);
  const run = await client.getRun(await resolveRun(client, given));
  if (flags.all) {
    const tasks: TaskView[] = [];
    for await (const task of tasksOf(client, run.id)) tasks.push(task);
    return flags.json ? printJson({ ...run, tasks }) : showRun({ ...run, tasks }, tasks.length);
  }
  if (flags.json) return printJson(run);
  showRun(run);
  showAttempts(run);
  await showChildren(client, run);
  const hasFailed = run.tasks.some(({ instances }) => (instances?.states.failed ?? 0) > 0);
  if (!hasFailed) return;
  print('');
  const failed = await failedInstances(client, run.id, INSTANCES_SHOWN);
  showTasks('failed instance', failed, INSTANCES_SHOWN);
  if (failed.length === INSTANCES_SHOWN) print(colours.dim('… there may be more; use --all to see all instances'));
}

export function showRun(run: RunView, most: number = TASKS_SHOWN): void {
  const ended = run.endedAt === null ? '' : ` after ${spanBetween(run.createdAt, run.endedAt)}`;
  print(`${colours.bold(run.dag)} version ${run.version}, run ${run.id}`);
  const why = run.reason === 'timeout' ? ' (timeout)' : run.slowAt === null ? '' : ' (slow)';
  print(`${coloured(run.outcome ?? run.state)}${why}${ended}; created ${run.createdAt} by ${plain(run.actor)}`);
  if (run.why !== null) print(colours.yellow(whyText(run.why)));
  if (run.concurrencyKey !== undefined) print(`key ${plain(run.concurrencyKey)}`);
  if (run.until !== null) print(`until ${plain(run.until)}: other tasks are skipped`);
  for (const { name, run: by, dag } of run.assets ?? [])
    print(
      `asset ${plain(name)} ${by === null ? 'was declared fresh' : `was produced by run ${by} of ${plain(dag ?? '')}`}`,
    );
  if (run.parent !== null) print(`called by task ${run.parent.task} of run ${run.parent.run}`);
  showTasks(
    'task',
    run.tasks.filter(({ role }) => role === 'task'),
    most,
  );
  // Apart from the others: they do not decide the run.
  const closing = run.tasks.filter(({ role, state }) => role !== 'task' && state !== 'skipped');
  if (closing.length > 0) {
    print('');
    showTasks('closing', closing, most);
  }
  if (run.closingFailed.length === 0) return;
  const names = run.closingFailed.slice(0, NAMES_SHOWN).map(plain).join(', ');
  print(colours.red(`✖ closing failed: ${names}${run.closingFailed.length > NAMES_SHOWN ? ' …' : ''} failed`));
}

const RETRIED_SHOWN = 5;
const ATTEMPTS_SHOWN = 10;

/** What the attempts before the last one ended with: the table has only the last. */
export function showAttempts({ tasks }: RunView): void {
  for (const { name, attempts } of tasks.filter((task) => task.attempts.length > 1).slice(0, RETRIED_SHOWN)) {
    print(`\nattempts of ${plain(name)}`);
    const shown = attempts.slice(-ATTEMPTS_SHOWN);
    const rows = shown.map(({ attempt, outcome, startedAt, endedAt, error, speculative }) => [
      `${attempt}${speculative ? ' (speculative)' : ''}`,
      coloured(outcome ?? 'running'),
      startedAt === null || endedAt === null ? '' : spanBetween(startedAt, endedAt),
      short(error?.split('\n', 1)[0] ?? ''),
    ]);
    print(table(['attempt', 'outcome', 'took', 'error'], rows));
    if (attempts.length > shown.length) print(colours.dim(`… and ${attempts.length - shown.length} before them`));
  }
}

const CHILDREN_SHOWN = 3;

async function showChildren(client: Client, run: RunView): Promise<void> {
  for (const task of run.tasks.filter((one) => failedChild(one) !== null).slice(0, CHILDREN_SHOWN)) {
    print(`\n${plain(task.name)} failed because its child run failed:`);
    await explainChild(client, failedChild(task) ?? '');
  }
}

function showTasks(what: string, tasks: readonly TaskView[], most: number): void {
  const rows = tasks
    .slice(0, most)
    .map((task) => [task.name, coloured(task.state), tries(task), tookOf(task), told(task)]);
  print(table([what, 'state', 'attempts', 'took', 'result'], rows));
  const more = tasks.length - most;
  if (more > 0) print(colours.dim(`… and ${more} more; use --json to see all`));
}

/** Two where a speculative attempt runs beside the first. */
function tries({ attempt: newest, attempts }: TaskView): string {
  const running = attempts.filter(({ outcome }) => outcome === null);
  if (running.length > 1) return running.map(({ attempt }) => attempt).join(' + ');
  if (newest === 0) return '';
  const isSpeculative = attempts.some(({ attempt, speculative }) => attempt === newest && speculative);
  return isSpeculative ? `${newest} (speculative)` : String(newest);
}

function tookOf({ startedAt, endedAt }: TaskView): string {
  return startedAt === null || endedAt === null ? '' : spanBetween(startedAt, endedAt);
}

function told(task: TaskView): string {
  if (task.instances !== null && task.error === null) return [countsText(task), whyText(task.why)].join(' ').trim();
  // The first line says what; the rest, where, is in --json.
  if (task.error !== null) {
    const [line = ''] = task.error.split('\n', 1);
    // The name of an error is the beginning of its text.
    const code = task.code === null || task.code === `error:${line.split(':', 1)[0]}` ? null : task.code;
    // Some codes begin with the class that they are of: `lost:silent`.
    const outcome = code?.startsWith(`${task.outcome}:`) ? null : task.outcome;
    const kind = task.state === 'failed' ? [outcome, code].filter((word) => word !== null) : [];
    return [short([...kind, line].join(': ')), whyText(task.why)].join(' ').trim();
  }
  if (task.progress !== undefined) return short(progressText(task));
  if (task.why !== null && task.child?.run == null) return whyText(task.why);
  const output = task.output === null || task.output === undefined ? '' : short(JSON.stringify(task.output));
  if (task.child?.run == null) return output;
  return `run ${task.child.run}${output === '' ? '' : `: ${output}`}`;
}
