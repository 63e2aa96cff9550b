/** `signalbox runs set-priority`. */

import type { Priority, SetPriorities } from '@signalbox/protocol';
import { counted } from '@signalbox/protocol';
import { connect } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { plain, print, printJson } from '../output.ts';
import { CliError } from '../problem.ts';
import { resolveRun } from '../run-id.ts';
import { allPages, filterOf, isFiltered, type RunFilterFlags } from './run-filter.ts';
import { isSure } from './sure.ts';

export interface PriorityFlags extends RunFilterFlags {
  readonly to?: Priority;
}

export async function setPriority(given: string, flags: PriorityFlags): Promise<void> {
  const { to } = flags;
  if (to === undefined) throw new CliError('No priority is given.', 'Pass --to <priority>.', EXIT.usage);
  if (isFiltered(given, flags)) return setMany(to, flags);
  const client = await connect(flags);
  const run = await resolveRun(client, given);
  if (flags.dryRun) {
    const { priority } = await client.getRun(run);
    if (flags.json) return printJson({ dryRun: true, run, before: priority, priority: to });
    return print(`run ${run} would go from ${priority} to ${to}`);
  }
  const done = await client.setPriority(run, to);
  if (flags.json) return printJson(done);
  print(done.before === to ? `run ${run} is ${to} already` : `run ${run} went from ${done.before} to ${to}`);
}

/** Shows how many there are, asks, and changes them page by page, the newest first. */
async function setMany(to: Priority, flags: PriorityFlags): Promise<void> {
  const client = await connect(flags);
  const filter: SetPriorities = { ...filterOf(flags), to };
  const change = (page: object) => client.setPriorities({ ...filter, ...page });
  const found = await allPages((page) => change({ ...page, dryRun: true }), flags.limit);
  if (flags.dryRun || found.length === 0) {
    if (flags.json) return printJson({ dryRun: true, items: found });
    for (const one of found) print(`run ${one.run} of ${plain(one.dag)} (${one.before})`);
    return print(`${counted(found.length, 'run')} would be ${to}`);
  }
  if (!flags.yes && !(await isSure(`Make ${counted(found.length, 'run')} ${to}? [y/N] `)))
    return print('nothing was changed');
  const done = await allPages(change, flags.limit);
  if (flags.json) return printJson({ dryRun: false, items: done });
  for (const { run, refused } of done) if (refused !== null) print(`run ${run}: ${refused}`);
  print(`${counted(done.filter(({ refused }) => refused === null).length, 'run')} set to ${to}`);
}
