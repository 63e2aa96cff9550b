/** Which runs a command is for: one, or all that fit a filter. */
import type { Priority, RunFilter } from '@signalbox/protocol';
import type { ClientFlags } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { CliError } from '../problem.ts';

export interface RunFilterFlags extends ClientFlags {
  readonly dryRun?: boolean;
  readonly dag?: string;
  readonly tag?: string;
  readonly state?: 'queued' | 'open';
  readonly priority?: Priority;
  readonly key?: string;
  readonly since?: string;
  readonly limit?: number;
  readonly yes?: boolean;
}

/** Refuses both a run and a filter, and neither of them. */
export function isFiltered(given: string, { dag, tag }: RunFilterFlags): boolean {
  const isFilter = dag !== undefined || tag !== undefined;
  if (given !== '' && isFilter)
    throw new CliError('A run and a filter were given.', 'Pass a run, or --dag or --tag.', EXIT.usage);
  if (given === '' && !isFilter)
    throw new CliError('No run is selected.', 'Pass a run, or --dag or --tag.', EXIT.usage);
  return isFilter;
}

export function filterOf({ dag, tag, state, priority, key, since }: RunFilterFlags): RunFilter {
  return {
    ...(dag !== undefined && { dag }),
    ...(tag !== undefined && { tag }),
    ...(state !== undefined && { state }),
    ...(priority !== undefined && { priority }),
    ...(key !== undefined && { concurrencyKey: key }),
    ...(since !== undefined && { since }),
  };
}

const RUNS_UNLESS_TOLD = 1_000;
const PER_PAGE = 100;

interface Page<Item> {
  readonly items: readonly Item[];
  readonly cursor: string | null;
}

export async function allPages<Item>(
  ask: (page: { readonly limit: number; readonly cursor?: string }) => Promise<Page<Item>>,
  most = RUNS_UNLESS_TOLD,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (let cursor: string | null = ''; cursor !== null && items.length < most; ) {
    const limit = Math.min(PER_PAGE, most - items.length);
    const page: Page<Item> = await ask({ limit, ...(cursor !== '' && { cursor }) });
    items.push(...page.items);
    cursor = page.cursor;
  }
  return items;
}
