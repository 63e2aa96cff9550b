/** The newest runs of a dag with the states of all their tasks: three statements for all of the runs, and one spec for each version. */
import { type DagSpec, type RunId, type StoredMap, type TenantId } from '@signalbox/engine';
import type { Row } from '../batch.ts';
import type { Ask, Database } from '../database.ts';
import { byLeaf, type KnownDays, type Leaf, leafOfRun, readable } from '../leaf.ts';
import { call, leafStatement, statement } from '../statement.ts';
import { type MapsByRun, parseMaps, readMaps, sortMaps } from '../statements/map.ts';
import { plainArray } from '../text.ts';
import type { DagKey } from './events.ts';
import type { KnownSpecs } from './known-specs.ts';
import type { RunOutline } from './run-details.ts';
import { specOfRun } from './run-spec.ts';
import { parseRunView, RUN_VIEW_COLUMNS, RUN_VIEW_COUNT, type RunView } from './run-view.ts';
import { parseOutline, TELLING } from './task-view.ts';

/** Its `spec` is the same object for all runs of one shape. */
export interface GridRun extends RunView, RunOutline {
  readonly notes: RunView['notes'];
  readonly phase: RunView['phase'];
  readonly outcome: RunView['outcome'];
}

export interface DagGrid {
  /** Newest first. */
  readonly runs: readonly GridRun[];
  readonly isCut: boolean;
}

/** Tasks of all runs together, instances of maps too. */
const MOST_TASKS = 200_000;

/** As `last_runs`, with what states are derived from. */
const selectRuns = statement(
  'grid_runs',
  `
  select ${RUN_VIEW_COLUMNS}, r.facts, r.forced_at is not null, r.added::text
    from dag d cross join lateral (
      select * from run r where r.shard = d.shard and r.dag_id = d.dag_id order by r.run_id desc limit $4::integer) r
   where d.shard = $1::smallint and d.dag_id = $2::bigint and d.tenant_id = $3::integer
   order by r.run_id desc`,
);

/** Leans on the primary key (shard, run_id, task_no), run by run. */
const selectOutlines = leafStatement(
  'grid_outlines',
  (leaf) => `
  select u.run_id, t.* from unnest($2::bigint[]) as u (run_id) cross join lateral (
    select array_agg(task_no)::text, array_agg(attempt_no)::text, array_agg(state)::text
      from ${readable('task', leaf)} where shard = $1::smallint and run_id = u.run_id) t`,
);
const selectFacts = leafStatement(
  'grid_facts',
  (leaf) => `
  select u.run_id, t.task_no, t.facts, case when ${TELLING} then t.notes end
    from unnest($2::bigint[]) as u (run_id)
    join ${readable('task', leaf)} t on t.shard = $1::smallint and t.run_id = u.run_id
   where t.facts is not null or ${TELLING}`,
);

interface Head {
  readonly view: RunView;
  readonly facts: string | null;
  readonly isForced: boolean;
  readonly added: string | null;
}

export async function getDagGrid(
  database: Database,
  days: KnownDays,
  tenantId: TenantId,
  { dag, limit, specs }: { readonly dag: DagKey; readonly limit: number; readonly specs: KnownSpecs },
): Promise<DagGrid> {
  return database.snapshot(async (ask) => {
    const [found] = await ask([call(selectRuns, dag.shard, dag.dagId, tenantId, limit)]);
    const heads = (found?.rows ?? []).map(headOf);
    if (heads.length === 0) return { runs: [], isCut: false };
    const shapes = await readShapes(ask, specs, heads);
    const maps = await readAllMaps(ask, days, heads);
    const sizes = heads.map((head) => tasksIn(shapes.get(shapeKey(head)) as DagSpec, maps.get(head.view.runId) ?? []));
    const kept = heads.slice(0, howManyFit(sizes));
    const outlines = await readOutlines(ask, days, dag, kept);
    const runs = kept.map((head): GridRun => {
      const spec = shapes.get(shapeKey(head)) as DagSpec;
      const { columns = [], facts = [] } = outlines.get(head.view.runId) ?? {};
      return {
        ...head.view,
        facts: head.facts,
        isForced: head.isForced,
        spec,
        outline: parseOutline([columns], facts),
        maps: maps.get(head.view.runId) ?? [],
      };
    });
    return { runs, isCut: kept.length < heads.length };
  });
}

function headOf(row: Row): Head {
  return {
    view: parseRunView(row),
    facts: row[RUN_VIEW_COUNT] ?? null,
    isForced: row[RUN_VIEW_COUNT + 1] === 't',
    added: row[RUN_VIEW_COUNT + 2] ?? null,
  };
}

/** A run that tasks were added to has a shape of its own. */
function shapeKey({ view, added }: Head): string {
  return JSON.stringify([view.versionNo, view.notes.until ?? null, added === null ? null : view.runId]);
}

async function readShapes(ask: Ask, specs: KnownSpecs, heads: readonly Head[]): Promise<ReadonlyMap<string, DagSpec>> {
  const shapes = new Map<string, DagSpec>();
  for (const head of heads) {
    const key = shapeKey(head);
    if (shapes.has(key)) continue;
    const spec = specOfRun(await specs.read(ask, head.view), head.added, head.view.notes);
    shapes.set(key, spec);
  }
  return shapes;
}

function leaves(days: KnownDays, heads: readonly Head[]): [Leaf, RunId[]][] {
  const ids = heads.map(({ view }) => view.runId);
  return [...byLeaf(ids, (id) => leafOfRun(days, id))];
}

async function readAllMaps(ask: Ask, days: KnownDays, heads: readonly Head[]): Promise<MapsByRun> {
  const maps: MapsByRun = new Map();
  const results = await ask(leaves(days, heads).map(([leaf, ids]) => readMaps(leaf, ids)));
  for (const result of results) parseMaps(result, maps);
  sortMaps(maps);
  return maps;
}

/** How many of the runs, newest first, have no more tasks than fit into one answer; one at least. */
export function howManyFit(tasksOfRuns: readonly number[], most = MOST_TASKS): number {
  let tasks = 0;
  const end = tasksOfRuns.findIndex((count) => {
    tasks += count;
    return tasks > most;
  });
  return end < 0 ? tasksOfRuns.length : Math.max(1, end);
}

/** With the instances of its maps. */
function tasksIn({ tasks }: DagSpec, maps: readonly StoredMap[]): number {
  return maps.reduce((sum, { group, unfolded }) => {
    const members = tasks.filter((task) => task.group === group).length;
    return sum + unfolded * Math.max(1, members);
  }, tasks.length);
}

interface Rows {
  columns: Row;
  readonly facts: Row[];
}

async function readOutlines(
  ask: Ask,
  days: KnownDays,
  dag: DagKey,
  heads: readonly Head[],
): Promise<ReadonlyMap<RunId, Rows>> {
  const calls = leaves(days, heads).flatMap(([leaf, ids]) => [
    call(selectOutlines(leaf), dag.shard, plainArray(ids)),
    call(selectFacts(leaf), dag.shard, plainArray(ids)),
  ]);
  const results = await ask(calls, { last: true });
  const found = new Map<RunId, Rows>();
  const of = (id: string | null | undefined): Rows => {
    const key = Number(id) as RunId;
    const known = found.get(key) ?? { columns: [], facts: [] };
    found.set(key, known);
    return known;
  };
  results.forEach(({ rows }, at) => {
    for (const [id, ...rest] of rows) {
      if (at % 2 === 0) of(id).columns = rest;
      else of(id).facts.push(rest);
    }
  });
  return found;
}
