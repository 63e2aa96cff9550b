/**
 * The newest runs of a dag with what the states of their tasks are derived from: three statements for all of the runs, and one spec
 * for each version. Runs that the caller knows already are not read again: of a hundred thousand tasks that is nearly all of the cost.
 */
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
import { type OutlinedTask, parseOutline, TELLING } from './task-view.ts';

export interface GridRun {
  readonly view: RunView;
  /** The same object for all runs of one shape. */
  readonly spec: DagSpec;
  /** Null for one that the caller knows. */
  readonly outline: RunOutline | null;
}

/** How many tasks a run has that the caller knows, instances of maps too; undefined for one that must be read. */
export type SizeOfKnown = (run: RunView) => number | undefined;

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

/** Leans on the primary key (shard, run_id, task_no), run by run. Each row is looked at once. */
const selectOutlines = leafStatement(
  'grid_outlines',
  (leaf) => `
  select u.run_id, t.* from unnest($2::bigint[]) as u (run_id) cross join lateral (
    select array_agg(task_no)::text, array_agg(attempt_no)::text, array_agg(state)::text,
        json_agg(json_build_array(task_no, facts, case when ${TELLING} then notes end))
          filter (where facts is not null or ${TELLING})::text
      from ${readable('task', leaf)} where shard = $1::smallint and run_id = u.run_id) t`,
);

interface Head {
  readonly view: RunView;
  readonly facts: string | null;
  readonly isForced: boolean;
  readonly added: string | null;
}

export interface GridOptions {
  readonly dag: DagKey;
  readonly limit: number;
  readonly sizeOfKnown?: SizeOfKnown;
}

export async function getDagGrid(
  database: Database,
  days: KnownDays,
  tenantId: TenantId,
  { dag, limit, specs, sizeOfKnown = () => undefined }: GridOptions & { readonly specs: KnownSpecs },
): Promise<DagGrid> {
  return database.snapshot(async (ask) => {
    const [found] = await ask([call(selectRuns, dag.shard, dag.dagId, tenantId, limit)]);
    const heads = (found?.rows ?? []).map(headOf);
    if (heads.length === 0) return { runs: [], isCut: false };
    const shapes = await readShapes(ask, specs, heads);
    const known = heads.map(({ view }) => sizeOfKnown(view));
    const isNew = (_: Head, at: number) => known[at] === undefined;
    const maps = await readAllMaps(ask, days, heads.filter(isNew));
    const sizes = heads.map(
      (head, at) => known[at] ?? tasksIn(shapes.get(shapeKey(head)) as DagSpec, maps.get(head.view.runId) ?? []),
    );
    const kept = heads.slice(0, howManyFit(sizes));
    const outlines = await readOutlines(ask, days, dag, kept.filter(isNew));
    const runs = kept.map((head, at): GridRun => {
      const { view, facts, isForced } = head;
      const spec = shapes.get(shapeKey(head)) as DagSpec;
      if (known[at] !== undefined) return { view, spec, outline: null };
      const { phase, outcome, notes } = view;
      const outline = outlines.get(view.runId) ?? [];
      return {
        view,
        spec,
        outline: { spec, facts, isForced, phase, outcome, notes, outline, maps: maps.get(view.runId) ?? [] },
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
  if (heads.length === 0) return maps;
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

async function readOutlines(
  ask: Ask,
  days: KnownDays,
  dag: DagKey,
  heads: readonly Head[],
): Promise<ReadonlyMap<RunId, OutlinedTask[]>> {
  const calls = leaves(days, heads).map(([leaf, ids]) => call(selectOutlines(leaf), dag.shard, plainArray(ids)));
  const results = await ask(calls, { last: true });
  const found = new Map<RunId, OutlinedTask[]>();
  for (const [id, ...rest] of results.flatMap(({ rows }) => rows)) {
    const facts = JSON.parse(rest[3] ?? '[]') as Row[];
    found.set(Number(id) as RunId, parseOutline([rest], facts));
  }
  return found;
}
