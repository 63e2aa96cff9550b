/**
 * Lists of runs, newest first. There is no index on the state of a run, because it would make every update more expensive.
 * Instead, a list walks indexes that end in the run id, looks at a bounded number of rows, and says where it stopped. So a
 * page can be short, even empty, and still have a next one.
 *
 * A walk has *streams*, each in order of id: the runs of one dag, of each dag of a tenant with few dags, or of each shard.
 * Runs that have not ended are walked in `live_run`, where finished runs are not in the way. When a stream has shown as many
 * rows as it may, nothing below its last row can be listed yet; the highest such place is the *horizon*.
 *
 * Ids grow with the second of creation, and within one second with the shard. So the order is by second, then by the instant
 * of creation, then by id: it follows the index from second to second, and within a second the runs of all shards are in the
 * order of their creation. A *place* in this order is an instant and an id; everything at or above the place of the previous
 * page is skipped.
 */
import type { Actor, DagId, RunId, RunOutcome, ShardNo, TenantId } from '@signalbox/engine';
import { SHARD_COUNT } from '@signalbox/engine';
import { phases, runOutcomes } from '../codes.ts';
import type { Ask, Database } from '../database.ts';
import { byLeaf, type KnownDays, type Leaf, leafOfRun, runBounds } from '../leaf.ts';
import { call, leafStatement, statement } from '../statement.ts';
import { keyColumns } from '../statements/run.ts';
import { encodeText, parseIntegers, plainArray } from '../text.ts';
import { parseRunView, RUN_VIEW_COLUMNS, type RunView } from './run-view.ts';

/** A place in the order of lists. */
export interface RunPlace {
  readonly createdAt: number;
  readonly runId: RunId;
}

export interface ListRuns {
  readonly dagName?: string | undefined;
  /** A phase, or the outcome of runs that have ended. */
  readonly state?: 'open' | 'closing' | 'ended' | RunOutcome | undefined;
  /** Only runs that this caller has made. */
  readonly actor?: Actor | undefined;
  /** Only runs below this place: the `next` of the page before. */
  readonly before?: RunPlace | null | undefined;
  readonly limit: number;
}

export interface ListedRuns {
  readonly runs: readonly RunView[];
  /** Where the next page begins; null when there is nothing more. */
  readonly next: RunPlace | null;
}

/** Rows looked at in one step, over all streams: 4.5 ms among a million runs. */
const ROWS_PER_STEP = 6_400;
const MAX_STEPS = 8;
/**
 * The first step looks at a page of each stream only, in so many segments at once. Most lists are full with it, and the days
 * to come, which have a partition already, cost no round trip each.
 */
const FIRST_SEGMENTS = 6;
/** Also for a shorter page: a clock that went back may have left the runs of one second in another order than their ids. */
const LEAST_PER_STREAM = 64;
/** Beyond it a tenant's runs are walked by shard: a stream costs a descent of the index also when it is empty. */
const MAX_DAG_STREAMS = 500;

/** Of a run's id: what is above them is its second. See `nextRunId`. */
const SECOND_BITS = 22;
const SECOND_SPAN = 2 ** SECOND_BITS;
const PLACE = (order: 'desc', of = '') => {
  const row = of === '' ? '' : `${of}.`;
  return `${row}run_id >> ${SECOND_BITS} ${order}, ${row}created_at ${order}, ${row}run_id ${order}`;
};

const selectDagIds = statement(
  'list_dag_ids',
  `
  select array_agg(shard)::text, array_agg(dag_id)::text
    from (select shard, dag_id from dag where tenant_id = $1::integer and ($2::text is null or name = $2::text)
           limit ${MAX_DAG_STREAMS + 1}) d`,
);

/** What the walks have in common: `scanned` has what was looked at; then the horizon, and what fits above it. */
const pick = (scanned: string) => `
  with scanned as materialized (${scanned}),
  ends as (
    select distinct on (stream) run_id, created_at from scanned
     where stream in (select stream from scanned group by stream having count(*) = $7::integer)
     order by stream, run_id),
  horizon as (
    select run_id, created_at from ends order by ${PLACE('desc')} limit 1)
  select (select run_id from horizon)::text, (select created_at from horizon)::text,
      array_agg(hit.run_id order by ${PLACE('desc', 'hit')})::text, array_agg(hit.created_at order by ${PLACE('desc', 'hit')})::text
    from (
      select run_id, created_at from scanned
       where tenant_id = $3::integer and by_actor and ($4::smallint is null or phase = $4::smallint)
         and ($8::smallint is null or outcome = $8::smallint)
         and not exists (select 1 from horizon h where
           (scanned.run_id >> ${SECOND_BITS}, scanned.created_at, scanned.run_id) < (h.run_id >> ${SECOND_BITS}, h.created_at, h.run_id))
       order by ${PLACE('desc')} limit $9::integer) hit`;

/** Below the last place; of older seconds all. $5 is the end of the second of that place, or of the segment. */
const below = (row: string, id: string) =>
  `${id} < $5::bigint and ${id} >= $6::bigint and (${id} < $11::bigint or (${row}.created_at, ${id}) < ($10::bigint, $12::bigint))`;

const BY_ACTOR = (row: string) => `($13::text is null or ${row}.actor = $13::text) as by_actor`;

/** Leans on (shard, dag_id, run_id). */
const walkDags = leafStatement('walk_dags', (leaf) =>
  pick(`
    select s.stream, r.run_id, r.created_at, r.tenant_id, r.phase, r.outcome, ${BY_ACTOR('r')}
      from unnest($1::smallint[], $2::bigint[]) with ordinality as s (shard, dag_id, stream), lateral (
        select r.run_id, r.created_at, r.tenant_id, r.phase, r.outcome, r.actor from run_${leaf} r
         where r.shard = s.shard and r.dag_id = s.dag_id and ${below('r', 'r.run_id')}
         order by r.run_id desc limit $7::integer) r`),
);

/** Leans on (shard, run_id). */
const walkShards = leafStatement('walk_shards', (leaf) =>
  pick(`
    select s.stream, r.run_id, r.created_at, r.tenant_id, r.phase, r.outcome, ${BY_ACTOR('r')}
      from unnest($1::smallint[], $2::bigint[]) with ordinality as s (shard, dag_id, stream), lateral (
        select r.run_id, r.created_at, r.tenant_id, r.phase, r.outcome, r.actor from run_${leaf} r
         where r.shard = s.shard and ${below('r', 'r.run_id')}
         order by r.run_id desc limit $7::integer) r`),
);

/** Leans on (shard, run_id) of `live_run`, and again of `run`. */
const walkLive = leafStatement('walk_live', (leaf) =>
  pick(`
    select s.stream, l.run_id, l.created_at,
        case when $2::bigint[] is null or l.dag_id = any ($2::bigint[]) then l.tenant_id end as tenant_id, l.phase, l.outcome,
        ${BY_ACTOR('l')}
      from unnest($1::smallint[]) with ordinality as s (shard, stream) cross join lateral (
        select l.run_id, l.dag_id, r.created_at, r.tenant_id, r.phase, r.outcome, r.actor
          from live_run l join run_${leaf} r on r.shard = s.shard and r.run_id = l.run_id
         where l.shard = s.shard and ${below('r', 'l.run_id')}
         order by l.run_id desc limit $7::integer) l`),
);

const selectViews = leafStatement(
  'list_runs',
  (leaf) => `
  select ${RUN_VIEW_COLUMNS}
    from unnest($1::smallint[], $2::bigint[]) as u (shard, run_id)
    join run_${leaf} r on r.shard = u.shard and r.run_id = u.run_id
    join dag d on d.shard = r.shard and d.dag_id = r.dag_id
   where r.tenant_id = $3::integer`,
);

interface Walk {
  readonly kind: 'dags' | 'shards' | 'live';
  readonly shards: readonly ShardNo[];
  /** Of each stream; for `live` those that may be listed, or null for all. */
  readonly dagIds: readonly DagId[] | null;
  readonly streamCount: number;
}

export async function listRuns(
  database: Database,
  days: KnownDays,
  tenantId: TenantId,
  { dagName, state, actor, before, limit }: ListRuns,
): Promise<ListedRuns> {
  return database.snapshot(async (ask) => {
    const walk = await chooseWalk(ask, tenantId, dagName, state);
    if (walk === null) return { runs: [], next: null };
    const { ids, next } = await walkDown(ask, days, walk, { tenantId, state, actor, before: before ?? null, limit });
    return { runs: ids.length === 0 ? [] : await viewRuns(ask, days, tenantId, ids), next };
  });
}

/** Newest first; the last that is asked of the snapshot. */
export async function viewRuns(
  ask: Ask,
  days: KnownDays,
  tenantId: TenantId,
  ids: readonly RunId[],
): Promise<RunView[]> {
  const calls = [...byLeaf(ids, (id) => leafOfRun(days, id))].map(([leaf, list]) =>
    call(selectViews(leaf), ...keyColumns(list.map((runId) => ({ runId }))), tenantId),
  );
  const results = await ask(calls, { last: true });
  return results.flatMap(({ rows }) => rows.map(parseRunView)).sort(newestFirst);
}

/** The order of lists. */
export function newestFirst(a: RunPlace, b: RunPlace): number {
  return secondOf(b.runId) - secondOf(a.runId) || b.createdAt - a.createdAt || b.runId - a.runId;
}

/** The second in which a run was made, as its id tells it. */
export function secondOf(id: RunId): number {
  return Math.floor(id / SECOND_SPAN);
}

async function chooseWalk(
  ask: Ask,
  tenantId: TenantId,
  dagName: string | undefined,
  state: ListRuns['state'],
): Promise<Walk | null> {
  const [found] = await ask([call(selectDagIds, tenantId, dagName === undefined ? null : encodeText(dagName))]);
  const shards = parseIntegers(found?.rows[0]?.[0]) as ShardNo[];
  const dagIds = parseIntegers(found?.rows[0]?.[1]) as DagId[];
  if (dagIds.length === 0) return null;
  const few = dagIds.length <= MAX_DAG_STREAMS;
  const touched = few ? [...new Set(shards)] : allShards();
  if (state === 'open' || state === 'closing') {
    return { kind: 'live', shards: touched, dagIds: few ? dagIds : null, streamCount: touched.length };
  }
  if (few) return { kind: 'dags', shards, dagIds, streamCount: shards.length };
  return { kind: 'shards', shards: touched, dagIds: touched.map(() => 0 as DagId), streamCount: touched.length };
}

interface WalkFor {
  readonly tenantId: TenantId;
  readonly state: ListRuns['state'];
  readonly actor: Actor | undefined;
  readonly before: RunPlace | null;
  readonly limit: number;
}

async function walkDown(
  ask: Ask,
  days: KnownDays,
  walk: Walk,
  { tenantId, state, actor, before, limit }: WalkFor,
): Promise<{ ids: RunId[]; next: RunPlace | null }> {
  const ids: RunId[] = [];
  const mostPerStream = Math.max(10, Math.ceil(ROWS_PER_STEP / walk.streamCount));
  const [phase, outcome] = stateCodes(state);
  const by = actor === undefined ? null : encodeText(actor);
  const dagIds = walk.dagIds === null ? null : plainArray(walk.dagIds);
  const statementOf = { dags: walkDags, shards: walkShards, live: walkLive }[walk.kind];
  let place = before;
  let last: RunPlace | null = null;
  // The second of the place is looked at again: what was listed of it is passed over.
  const endOf = ({ runId }: RunPlace) => ((secondOf(runId) + 1) * SECOND_SPAN) as RunId;
  let segments = segmentsBelow(days, place === null ? (Number.MAX_SAFE_INTEGER as RunId) : endOf(place));
  for (let step = 0; step < MAX_STEPS; step++) {
    const isFirst = step === 0;
    // One row more than a page: a stream that has exactly a page left is not cut.
    const perStream = isFirst ? Math.min(Math.max(limit + 1, LEAST_PER_STREAM), mostPerStream) : mostPerStream;
    const chosen = segments.slice(0, isFirst ? FIRST_SEGMENTS : 1);
    if (chosen.length === 0) return { ids, next: null };
    const results = await ask(
      chosen.map((segment) => {
        const common = [plainArray(walk.shards), dagIds, tenantId, phase, segment.to, segment.from, perStream, outcome];
        const passed =
          place === null ? [0, segment.to, 0] : [place.createdAt, secondOf(place.runId) * SECOND_SPAN, place.runId];
        return call(statementOf(segment.leaf), ...common, limit - ids.length, ...passed, by);
      }),
    );
    for (const [i, segment] of chosen.entries()) {
      const [horizonId, horizonAt, hits, instants] = results[i]?.rows[0] ?? [];
      const room = limit - ids.length;
      const page = (parseIntegers(hits) as RunId[]).slice(0, room);
      ids.push(...page);
      if (page.length > 0) {
        last = { runId: page.at(-1) as RunId, createdAt: parseIntegers(instants)[page.length - 1] as number };
      }
      if (ids.length >= limit && last !== null) return { ids, next: last };
      const older = segments.slice(1);
      const isCut = horizonId !== null && horizonId !== undefined;
      if (isCut) {
        place = { runId: Number(horizonId) as RunId, createdAt: Number(horizonAt) };
        segments = [{ ...segment, to: Math.min(segment.to, endOf(place)) as RunId }, ...older];
        // What was found below is found again, once the rest of this segment has been looked at.
        break;
      }
      segments = older;
    }
  }
  const [next] = segments;
  if (next === undefined) return { ids, next: null };
  if (place !== null && place.runId >= next.from && place.runId < next.to) return { ids, next: place };
  // Nothing of that segment has been looked at: the page after begins above all of it.
  return { ids, next: { runId: (next.to - 1) as RunId, createdAt: Number.MAX_SAFE_INTEGER } };
}

function stateCodes(state: ListRuns['state']): [phase: number | null, outcome: number | null] {
  if (state === undefined) return [null, null];
  if (state === 'open' || state === 'closing' || state === 'ended') return [phases.code(state), null];
  return [phases.code('ended'), runOutcomes.code(state)];
}

interface Segment {
  readonly leaf: Leaf;
  readonly from: RunId;
  readonly to: RunId;
}

/** All ids below, cut where partitions are, newest first; between the days that have one there is `default`. */
function segmentsBelow(days: KnownDays, before: RunId): Segment[] {
  const segments: Segment[] = [];
  let to = before;
  for (const day of [...days.run].sort((a, b) => b - a)) {
    const [from, until] = runBounds(day);
    if (from >= to) continue;
    if (until < to) segments.push({ leaf: 'default', from: until, to });
    segments.push({ leaf: `d${day}`, from, to: Math.min(until, to) as RunId });
    to = from;
  }
  if (to > 0) segments.push({ leaf: 'default', from: 0 as RunId, to });
  return segments;
}

function allShards(): ShardNo[] {
  return Array.from({ length: SHARD_COUNT }, (_, shard) => shard as ShardNo);
}
