/** `signalbox runs retry`. */
import { counted } from '@signalbox/protocol';
import type { Client } from '@signalbox/sdk';
import { connect } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { followToEnd } from '../follow/follow-to-end.ts';
import { tasksOf } from '../instances.ts';
import { coloured, plain, print, printJson } from '../output.ts';
import { CliError } from '../problem.ts';
import { next } from '../program-name.ts';
import { resolveRun } from '../run-id.ts';
import { allPages, filterOf, isFiltered, type RunFilterFlags } from './run-filter.ts';
import { isSure } from './sure.ts';

export interface RetryFlags extends RunFilterFlags {
  readonly wait?: boolean;
  readonly timeout?: number;
}

export async function retry(given: string, task: string | undefined, flags: RetryFlags): Promise<void> {
  if (isFiltered(given, flags)) return retryMany(flags);
  const client = await connect(flags);
  const run = await resolveRun(client, given);
  if (flags.dryRun) {
    const names = task === undefined ? await failedTasks(client, run) : [task];
    if (flags.json) return printJson({ dryRun: true, run, tasks: names });
    return print(`${names.map(plain).join(', ')} of run ${run} would run again`);
  }
  const tasks = task === undefined ? await failedTasks(client, run) : [task];
  const retried = [];
  for (const name of tasks) retried.push(await client.retryTask(run, name));
  if (flags.wait) return followToEnd(client, run, flags);
  if (flags.json) return printJson({ run, tasks: retried });
  for (const { task: name, state } of retried) print(`task ${plain(name)} is ${coloured(state)}`);
  print(`follow it with: ${next(`runs watch ${run}`)}`);
}

/** Shows how many there are, asks, and retries them page by page, the newest first. */
async function retryMany(flags: RetryFlags): Promise<void> {
  if (flags.wait) throw new CliError('--wait is for one run.', 'Pass a run, or leave out --wait.', EXIT.usage);
  const client = await connect(flags);
  const { state: _, ...filter } = filterOf(flags);
  const change = (page: object) => client.retryRuns({ ...filter, ...page });
  const found = await allPages((page) => change({ ...page, dryRun: true }), flags.limit);
  if (flags.dryRun || found.length === 0) {
    if (flags.json) return printJson({ dryRun: true, items: found });
    for (const one of found) print(`run ${one.run} of ${plain(one.dag)}: ${one.refused ?? counted(one.count, 'task')}`);
    return print(`${counted(found.length, 'run')} would be retried`);
  }
  if (!flags.yes && !(await isSure(`Retry ${counted(found.length, 'run')}? [y/N] `)))
    return print('nothing was retried');
  const done = await allPages(change, flags.limit);
  if (flags.json) return printJson({ dryRun: false, items: done });
  for (const { run, refused } of done) if (refused !== null) print(`run ${run}: ${refused}`);
  print(`${counted(done.filter(({ refused }) => refused === null).length, 'run')} retried`);
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
