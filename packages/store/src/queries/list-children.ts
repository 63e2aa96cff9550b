/** The runs that the tasks of a run have made, as a list. Their names follow from its calls: no index on parents is needed. */
import { type RunId, shardOfUid, TaskNames, type TenantId } from '@signalbox/engine';
import type { Database } from '../database.ts';
import { findRunIdsByUid } from '../fetch.ts';
import type { KnownDays } from '../leaf.ts';
import { type ListedRuns, type ListRuns, viewRuns } from './run-list.ts';
import { getRun, type RunOutline, type RunView } from './run-view.ts';

export interface ListChildren extends ListRuns {
  readonly parent: string;
}

/** Newest first. Null when there is no such parent. */
export async function listChildren(
  database: Database,
  days: KnownDays,
  tenantId: TenantId,
  { parent, dagName, state, before, limit }: ListChildren,
): Promise<ListedRuns | null> {
  const run = await getRun(database, days, tenantId, parent, callsOf);
  if (run === null) return null;
  const wanted = [...run.children.values()].map((uid) => ({ uid, shard: shardOfUid(uid) }));
  if (wanted.length === 0) return { runs: [], next: null };
  return database.snapshot(async (ask) => {
    const ids = [...(await findRunIdsByUid(ask, days, wanted)).values()].sort((a, b) => b - a);
    const below = ids.filter((id) => before == null || id < before.runId);
    const page = below.slice(0, limit);
    const isWanted = ({ dagName: dag, phase, outcome }: RunView) =>
      (dagName === undefined || dag === dagName) &&
      (state === undefined || phase === state || (phase === 'ended' && outcome === state));
    const runs = page.length === 0 ? [] : (await viewRuns(ask, days, tenantId, page)).filter(isWanted);
    return { runs, next: below.length > page.length ? { runId: page.at(-1) as RunId, createdAt: 0 } : null };
  });
}

/** Also those that maps have made. */
function callsOf({ spec, maps, outline }: RunOutline): readonly number[] {
  const names = new TaskNames(spec, maps);
  return outline.flatMap(({ taskNo }) => {
    const no = names.specOf(taskNo);
    return no !== null && spec.tasks[no]?.child !== undefined ? [taskNo] : [];
  });
}
