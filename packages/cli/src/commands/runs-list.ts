/** `signalbox runs list`. */
import type { RunFilter } from '@signalbox/sdk';
import { connect, type PageFlags } from '../connection.ts';
import { coloured, colours, print, printJson, spanBetween, table } from '../output.ts';
import { next } from '../program-name.ts';
import { resolveRun } from '../run-id.ts';
import { knownDag } from './known-dag.ts';

export interface ListFlags extends PageFlags {
  readonly dag?: string;
  readonly state?: NonNullable<RunFilter['state']>;
  readonly outcome?: NonNullable<RunFilter['outcome']>;
  readonly parent?: string;
  readonly backfill?: string;
  readonly mine?: boolean;
}

export async function list(flags: ListFlags): Promise<void> {
  const { dag, state, outcome, backfill, mine, limit, cursor } = flags;
  const client = await connect(flags);
  const parent = flags.parent === undefined ? undefined : await resolveRun(client, flags.parent);
  const given = Object.entries({ dag, state, outcome, parent, backfill, mine, limit, cursor }).filter(
    ([, value]) => value !== undefined,
  );
  const page = await client.listRuns(Object.fromEntries(given));
  if (page.items.length === 0) await knownDag(client, dag);
  if (flags.json) return printJson(page);
  const rows = page.items.map((run) => [
    run.id,
    run.dag,
    coloured(run.outcome ?? run.state),
    run.cause,
    run.scheduledFor === undefined ? run.createdAt : `begins ${run.scheduledFor}`,
    run.endedAt === null ? '' : spanBetween(run.createdAt, run.endedAt),
  ]);
  if (rows.length > 0) print(table(['run', 'dag', 'state', 'by', 'created', 'took'], rows));
  else
    print(
      `no runs${page.cursor === null ? `; start one with: ${next('runs trigger <dag> --wait')}` : ' on this page'}`,
    );
  if (page.cursor !== null) print(colours.dim(`next page: --cursor ${page.cursor}`));
}
