/** `signalbox runs clear` and `signalbox tasks clear`. */

import type { Clear, TaskState } from '@signalbox/protocol';
import { counted } from '@signalbox/protocol';
import { connect } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { print, printJson } from '../output.ts';
import { CliError } from '../problem.ts';
import { resolveRun } from '../run-id.ts';
import { isSure } from './sure.ts';
import { type TouchFlags, touch } from './touch.ts';

export interface ClearFlags extends TouchFlags {
  readonly state?: readonly TaskState[];
  readonly only?: boolean;
  readonly upstream?: boolean;
}

export interface ClearDagFlags extends ClearFlags {
  readonly outcome?: 'succeeded' | 'failed';
  readonly since?: string;
  readonly limit?: number;
}

export async function clear(given: string, tasks: readonly string[], flags: ClearFlags): Promise<void> {
  const client = await connect(flags);
  const run = await resolveRun(client, given);
  const chosen = selectionOf(tasks, flags);
  await touch(flags, (dryRun) => client.clearTasks(run, { ...chosen, ...(dryRun && { dryRun }) }));
}

/** Page by page, until all runs of the dag were looked at, or as many as were asked for. */
export async function clearDag(dag: string, flags: ClearDagFlags): Promise<void> {
  const client = await connect(flags);
  const { outcome, since, limit = 100 } = flags;
  const asked = `Clear ${flags.state?.join(', ') ?? 'failed'} tasks of up to ${counted(limit, 'run')} of ${dag}? [y/N] `;
  if (!flags.dryRun && !flags.yes && !(await isSure(asked))) return print('nothing was changed');
  const chosen = {
    ...selectionOf([], { state: ['failed'], ...flags }),
    ...(outcome && { outcome }),
    ...(since && { since }),
  };
  const items = [];
  for (let cursor: string | null = ''; cursor !== null && items.length < limit; ) {
    const page = await client.clearRuns(dag, {
      ...chosen,
      ...(flags.dryRun && { dryRun: true }),
      ...(cursor !== '' && { cursor }),
      limit: Math.min(20, limit - items.length),
    });
    items.push(...page.items);
    cursor = page.cursor;
    if (!flags.json)
      for (const { run, count, refused } of page.items) print(`run ${run}: ${refused ?? counted(count, 'task')}`);
  }
  if (flags.json) return printJson({ items });
  print(
    flags.dryRun
      ? 'nothing was changed'
      : `${items.filter(({ count }) => count > 0).length} of ${counted(items.length, 'run continues', 'runs continue')}`,
  );
}

function selectionOf(tasks: readonly string[], { state, only, upstream, force }: ClearFlags): Clear {
  if (tasks.length === 0 && state === undefined) {
    throw new CliError('Nothing is selected.', 'Pass task names, or --state failed.', EXIT.usage);
  }
  return {
    ...(tasks.length > 0 && { tasks: [...tasks] }),
    ...(state !== undefined && { states: [...state] }),
    downstream: only !== true,
    ...(upstream && { upstream }),
    ...(force && { force }),
  };
}
