/** `signalbox logs`. */
import type { AttemptName, Client, LogLine } from '@signalbox/sdk';
import { type ClientFlags, connect } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { lastLines } from '../follow/last-lines.ts';
import { readableLine } from '../follow/readable.ts';
import { onInterrupt } from '../interrupt.ts';
import { colours, plain, print, printJson, printJsonLine } from '../output.ts';
import { resolveRun } from '../run-id.ts';

export interface LogsFlags extends ClientFlags {
  readonly attempt?: number;
  readonly follow?: boolean;
  readonly tail?: number;
  readonly times?: boolean;
}

export async function logs(given: string, task: string | undefined, flags: LogsFlags): Promise<void> {
  const client = await connect(flags);
  const run = await resolveRun(client, given);
  if (task === undefined && flags.follow && flags.attempt === undefined && flags.tail === undefined) {
    return followRun(client, run, flags);
  }
  const tasks = task === undefined ? await startedTasks(client, run) : [task];
  const all: Record<string, readonly LogLine[]> = {};
  for (const name of tasks) {
    const attempt: AttemptName = { run, task: name, attempt: flags.attempt ?? 'last' };
    if (tasks.length > 1 && !flags.json) print(colours.bold(`── ${plain(name)}`));
    if (flags.follow) await follow(client, attempt, flags);
    else if (flags.json) all[name] = await lastLines(client, attempt, flags.tail);
    else showAll(await lastLines(client, attempt, flags.tail), flags);
    if (process.exitCode === EXIT.interrupted) return;
  }
  if (!flags.follow && flags.json) printJson(task === undefined ? all : (all[task] ?? []));
  else if (tasks.length === 0 && !flags.json) print(colours.dim('no task of this run has started'));
}

/** Lines are numbered from 0: a number that lacks is one that nobody could give, and that must not look like silence. */
export function showAll(lines: readonly LogLine[], flags: LogsFlags): void {
  let expected = flags.tail === undefined ? 0 : (lines[0]?.no ?? 0);
  for (const line of lines) {
    const count = line.no - expected;
    if (count > 0) print(colours.dim(`… ${count === 1 ? 'a line is' : `${count} lines are`} missing: ${WHY_NOT_HERE}`));
    show(line, flags);
    expected = line.no + 1;
  }
}

const WHY_NOT_HERE = 'their server is offline, or they were removed';

/** Tasks that begin later are shown as well, until the run has ended. */
async function followRun(client: Client, run: string, flags: LogsFlags): Promise<void> {
  const { signal } = onInterrupt();
  try {
    for await (const line of client.followRunLog(run, { signal })) {
      if (flags.json) printJsonLine(line);
      else show(line, flags, `${colours.bold(plain(line.task))} `);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    process.exitCode = EXIT.interrupted;
  }
}

/** In the order of the definition; those that never had an attempt have no log. */
async function startedTasks(client: Client, run: string): Promise<string[]> {
  const { tasks } = await client.getRun(run);
  return tasks.filter(({ attempt }) => attempt > 0).map(({ name }) => name);
}

async function follow(client: Client, attempt: AttemptName, flags: LogsFlags): Promise<void> {
  const { signal } = onInterrupt();
  const from = flags.tail === undefined ? 0 : ((await lastLines(client, attempt, flags.tail))[0]?.no ?? 0);
  try {
    for await (const line of client.followLog(attempt, { from, signal })) {
      if (flags.json) printJsonLine({ task: attempt.task, ...line });
      else show(line, flags);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    process.exitCode = EXIT.interrupted;
  }
}

export function show(line: LogLine, { times }: { readonly times?: boolean }, before = ''): void {
  const { at, stream } = line;
  const paint = stream === 'stderr' ? colours.yellow : stream === 'system' ? colours.dim : (text: string) => text;
  print(`${times ? `${colours.dim(at)} ` : ''}${before}${paint(plain(readableLine(line)))}`);
}
