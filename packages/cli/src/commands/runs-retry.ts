/** `signalbox runs retry`. */
import type { Client } from '@signalbox/sdk';
import { type ClientFlags, connect } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { followToEnd } from '../follow/follow-to-end.ts';
import { tasksOf } from '../instances.ts';
import { coloured, plain, print, printJson } from '../output.ts';
import { CliError } from '../problem.ts';
import { next } from '../program-name.ts';
import { resolveRun } from '../run-id.ts';

export interface RetryFlags extends ClientFlags {
  readonly wait?: boolean;
  readonly timeout?: number;
}

export async function retry(given: string, task: string | undefined, flags: RetryFlags): Promise<void> {
  const client = await connect(flags);
  const run = await resolveRun(client, given);
  const tasks = task === undefined ? await failedTasks(client, run) : [task];
  const retried = [];
  for (const name of tasks) retried.push(await client.retryTask(run, name));
  if (flags.wait) return followToEnd(client, run, flags);
  if (flags.json) return printJson({ run, tasks: retried });
  for (const { task: name, state } of retried) print(`task ${plain(name)} is ${coloured(state)}`);
  print(`follow it with: ${next(`runs watch ${run}`)}`);
}

async function failedTasks(client: Client, run: string): Promise<string[]> {
  const names: string[] = [];
  // A mapped task is tried again by its instances.
  for await (const { name, instances } of tasksOf(client, run, { state: 'failed' })) {
    if (instances === null || instances.states.failed === undefined) names.push(name);
  }
  if (names.length > 0) return names;
  throw new CliError(`No task of run ${run} has failed.`, `Show its tasks: ${next(`runs show ${run}`)}`, EXIT.refused);
}
