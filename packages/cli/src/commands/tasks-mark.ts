/** `signalbox tasks mark` and `signalbox tasks cancel`. */
import type { TaskMark } from '@signalbox/protocol';
import { connect } from '../connection.ts';
import { resolveRun } from '../run-id.ts';
import { type TouchFlags, touch } from './touch.ts';

export interface MarkFlags extends TouchFlags {
  readonly output?: unknown;
  readonly reason?: string;
}

export async function mark(given: string, as: TaskMark, tasks: readonly string[], flags: MarkFlags): Promise<void> {
  const client = await connect(flags);
  const run = await resolveRun(client, given);
  const { output, reason, force } = flags;
  const said = {
    tasks: [...tasks],
    as,
    ...(output !== undefined && { output }),
    ...(reason !== undefined && { reason }),
    ...(force && { force }),
  };
  await touch(flags, (dryRun) => client.markTasks(run, { ...said, ...(dryRun && { dryRun }) }));
}

export async function cancelTask(given: string, task: string, flags: MarkFlags): Promise<void> {
  const client = await connect(flags);
  const run = await resolveRun(client, given);
  const said = flags.reason === undefined ? {} : { reason: flags.reason };
  await touch(flags, (dryRun) => client.cancelTask(run, task, { ...said, ...(dryRun && { dryRun }) }));
}
