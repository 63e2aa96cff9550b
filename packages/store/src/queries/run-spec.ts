/** The spec of a run and the maps that it has expanded. */
import {
  type DagSpec,
  growSpec,
  limitSpec,
  type RunId,
  readRunNotes,
  type StoredMap,
  shardOfRun,
  type TenantId,
} from '@signalbox/engine';
import type { Database } from '../database.ts';
import { type KnownDays, leafOfRun, readable } from '../leaf.ts';
import { call, leafStatement } from '../statement.ts';
import { parseAdded } from '../statements/added.ts';
import { type MapsByRun, parseMaps, readMaps, sortMaps } from '../statements/map.ts';
import { expectResults } from '../whole-runs.ts';
import type { RunDetails } from './run-details.ts';

/** The spec of the run: that of its version, up to the chosen task, plus added tasks. */
function specOf(spec: string, added: string | null | undefined, notes: string | null | undefined): DagSpec {
  return specOfRun(JSON.parse(spec) as DagSpec, added, notes);
}

/** The same, from the spec of its version, which is not changed. */
export function specOfRun(
  version: DagSpec,
  added: string | null | undefined,
  notes: Parameters<typeof readRunNotes>[0],
): DagSpec {
  return growSpec(limitSpec(version, readRunNotes(notes).until), parseAdded(added));
}

export function mapsOfRun(result: Parameters<typeof parseMaps>[0], runId: RunId): readonly StoredMap[] {
  const maps: MapsByRun = new Map();
  parseMaps(result, maps);
  sortMaps(maps);
  return maps.get(runId) ?? [];
}

const selectSpec = leafStatement(
  'view_run_spec',
  (leaf) => `
  select v.spec::text, r.added::text, r.notes from ${readable('run', leaf)} r
    join dag_version v on v.shard = r.shard and v.dag_id = r.dag_id and v.version_no = r.version_no
   where r.shard = $1::smallint and r.run_id = $2::bigint and r.tenant_id = $3::integer`,
);

/** What a run goes by. */
export async function getRunSpec(
  database: Database,
  days: KnownDays,
  tenantId: TenantId,
  runId: RunId,
): Promise<DagSpec | null> {
  const { rows } = await database.one(call(selectSpec(leafOfRun(days, runId)), shardOfRun(runId), runId, tenantId));
  const spec = rows[0]?.[0] ?? null;
  return spec === null ? null : specOf(spec, rows[0]?.[1], rows[0]?.[2]);
}

/** What the tasks of a run are named by: its spec, and what its maps have become. */
export async function getRunMaps(
  database: Database,
  days: KnownDays,
  tenantId: TenantId,
  runId: RunId,
): Promise<Pick<RunDetails, 'spec' | 'maps'> | null> {
  const leaf = leafOfRun(days, runId);
  const calls = [call(selectSpec(leaf), shardOfRun(runId), runId, tenantId), readMaps(leaf, [runId])];
  const [found, expansions] = expectResults(await database.snapshot((ask) => ask(calls, { last: true })), 2);
  const spec = found.rows[0]?.[0] ?? null;
  if (spec === null) return null;
  return { spec: specOf(spec, found.rows[0]?.[1], found.rows[0]?.[2]), maps: mapsOfRun(expansions, runId) };
}
