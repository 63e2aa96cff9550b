/** The child runs of a run, as a list. Their ids follow from its calls, so no index on parents is needed. */
import { type RunId, shardOfUid, TaskNames, type TenantId } from '@signalbox/engine';
import type { Database } from '../database.ts';
import { findRunIdsByUid } from '../fetch.ts';
import type { KnownDays } from '../leaf.ts';
import { getRun } from './get-run.ts';
import type { KnownSpecs } from './known-specs.ts';
import type { RunOutline } from './run-details.ts';
import { type ListedRuns, type ListRuns, newestFirst, type RunPlace, secondOf, viewRuns } from './run-list.ts';
import type { RunView } from './run-view.ts';

export interface ListChildren extends ListRuns {
  readonly parent: string;
}

/** Newest first. Null when there is no such parent. */
export async function listChildren(
  database: Database,
  days: KnownDays,
  tenantId: TenantId,
  { parent, specs, dagName, state, actor, before, limit }: ListChildren & { readonly specs: KnownSpecs },
): Promise<ListedRuns | null> {
  const run = await getRun(database, days, tenantId, { uid: parent, specs }, callsOf);
  if (run === null) return null;
  const wanted = [...run.children.values()].map((uid) => ({ uid, shard: shardOfUid(uid) }));
  if (wanted.length === 0) return { runs: [], next: null };
  return database.snapshot(async (ask) => {
    const ids = idsOfPage([...(await findRunIdsByUid(ask, days, wanted)).values()], before ?? null, limit);
    if (ids.length === 0) return { runs: [], next: null };
    const below = (await viewRuns(ask, days, tenantId, ids)).filter(
      (run) => before == null || newestFirst(before, run) < 0,
    );
    const page = below.slice(0, limit);
    const isWanted = ({ dagName: dag, phase, outcome, createdBy }: RunView) =>
      (dagName === undefined || dag === dagName) &&
      (actor === undefined || createdBy === actor) &&
      (state === undefined || phase === state || (phase === 'ended' && outcome === state));
    const last = page.at(-1);
    return { runs: page.filter(isWanted), next: last !== undefined && below.length > page.length ? last : null };
  });
}

/**
 * The ids that a page may have, with at least one more than it holds. Ids alone give the order of seconds but not the order within one, so whole
 * seconds are taken; the second of `before` counts for nothing, because all of it may have been listed.
 */
export function idsOfPage(ids: RunId[], before: RunPlace | null, limit: number): RunId[] {
  const newest = before === null ? Number.POSITIVE_INFINITY : secondOf(before.runId);
  const older = ids.filter((id) => secondOf(id) < newest).sort((a, b) => b - a);
  const oldest = secondOf(older[limit] ?? (0 as RunId));
  return ids.filter((id) => secondOf(id) <= newest && secondOf(id) >= oldest);
}

/** Also those that maps have made. */
function callsOf({ spec, maps, outline }: RunOutline): readonly number[] {
  const names = new TaskNames(spec, maps);
  return outline.flatMap(({ taskNo }) => {
    const no = names.specOf(taskNo);
    return no !== null && spec.tasks[no]?.child !== undefined ? [taskNo] : [];
  });
}
