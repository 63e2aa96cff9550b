/** `signalbox runs list`. */
import { type ConnectionFlags, connect } from './connection.ts';
import { coloured, colours, print, printJson, table } from './output.ts';
import { spanOf } from './runs-show.ts';

export interface ListFlags extends ConnectionFlags {
  readonly dag?: string;
  readonly state?: string;
  readonly outcome?: string;
  readonly limit: number;
  readonly cursor?: string;
  readonly json?: boolean;
}

export async function list(flags: ListFlags): Promise<void> {
  const { dag, state, outcome, limit, cursor } = flags;
  const given = Object.entries({ dag, state, outcome, limit, cursor }).filter(([, value]) => value !== undefined);
  // Words that the server does not know are refused by it, with those that it does.
  const page = await (await connect(flags)).listRuns(Object.fromEntries(given));
  if (flags.json) return printJson(page);
  const rows = page.items.map((run) => [
    run.id,
    run.dag,
    coloured(run.outcome ?? run.state),
    run.createdAt,
    run.endedAt === null ? '' : spanOf(run.createdAt, run.endedAt),
  ]);
  print(rows.length === 0 ? colours.dim('no runs') : table(['run', 'dag', 'state', 'created', 'took'], rows));
  if (page.cursor !== null) print(colours.dim(`older ones: --cursor ${page.cursor}`));
}
