/** `signalbox runs cancel`. */

import type { CancelRuns } from '@signalbox/protocol';
import { counted } from '@signalbox/protocol';
import { connect } from '../connection.ts';
import { coloured, plain, print, printJson } from '../output.ts';
import { resolveRun } from '../run-id.ts';
import { allPages, filterOf, isFiltered, type RunFilterFlags } from './run-filter.ts';
import { isSure } from './sure.ts';
import { show } from './touch.ts';

export interface CancelFlags extends RunFilterFlags {
  readonly force?: boolean;
  readonly grace?: number;
}

export async function cancel(given: string, flags: CancelFlags): Promise<void> {
  if (isFiltered(given, flags)) return cancelMany(flags);
  const client = await connect(flags);
  if (flags.dryRun) {
    const run = await resolveRun(client, given);
    return show(await client.previewCancel(run, { force: flags.force === true }), flags);
  }
  const cancelled = await client.cancelRun(await resolveRun(client, given), {
    force: flags.force === true,
    ...(flags.grace !== undefined && { graceMs: flags.grace }),
  });
  if (flags.json) return printJson(cancelled);
  const closing = cancelled.state === 'closing' ? ' and is closing' : '';
  print(`run ${cancelled.id} is ${coloured(cancelled.outcome ?? cancelled.state)}${closing}`);
}

/** Shows how many there are, asks, and cancels them page by page, the newest first. */
async function cancelMany(flags: CancelFlags): Promise<void> {
  const client = await connect(flags);
  const { grace, limit } = flags;
  const filter: CancelRuns = {
    ...filterOf(flags),
    ...(flags.force && { force: true }),
    ...(grace !== undefined && { graceMs: grace }),
  };
  const stop = (page: object) => client.cancelRuns({ ...filter, ...page });
  const found = await allPages((page) => stop({ ...page, dryRun: true }), limit);
  if (flags.dryRun || found.length === 0) {
    if (flags.json) return printJson({ dryRun: true, items: found });
    for (const one of found) print(`run ${one.run} of ${plain(one.dag)} (${one.state})`);
    return print(`${counted(found.length, 'run')} would be cancelled`);
  }
  if (!flags.yes && !(await isSure(`Cancel ${counted(found.length, 'run')}? [y/N] `)))
    return print('nothing was changed');
  const done = await allPages(stop, limit);
  if (flags.json) return printJson({ dryRun: false, items: done });
  for (const { run, refused } of done) if (refused !== null) print(`run ${run}: ${refused}`);
  print(`${done.filter(({ refused }) => refused === null).length} runs were cancelled`);
}
