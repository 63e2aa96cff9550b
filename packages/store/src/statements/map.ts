/** Expansions of maps: one row each, by the number of its first task. */
import type { MapFold, RunId, StoredMap } from '@signalbox/engine';
import type { CallResult } from '../batch.ts';
import { type Leaf, readable } from '../leaf.ts';
import { type Call, call, leafStatement, rowsOf } from '../statement.ts';
import { nullableArray, parseIntegers, plainArray, textArray } from '../text.ts';
import { keyColumns } from './run.ts';

const insertMaps = leafStatement(
  'insert_maps',
  (leaf) => `
  insert into map_expansion_${leaf} (shard, run_id, first_no, group_no, scope, total, unfolded, expanded_at, removed_at, removed_by)
  ${rowsOf(
    'shard smallint',
    'run_id bigint',
    'first_no integer',
    'group_no integer',
    'scope integer',
    'total integer',
    'unfolded integer',
    'expanded_at bigint',
    'removed_at bigint',
    'removed_by text',
  )}`,
);

/** Leans on the primary key (shard, run_id, first_no) of the partition. */
const updateMaps = leafStatement(
  'update_maps',
  (leaf) => `
  with hit as (
    update map_expansion_${leaf} m set unfolded = coalesce(u.unfolded, m.unfolded), removed_at = u.removed_at, removed_by = u.removed_by
      from (${rowsOf(
        'shard smallint',
        'run_id bigint',
        'first_no integer',
        'unfolded integer',
        'removed_at bigint',
        'removed_by text',
      )}) u
     where m.shard = u.shard and m.run_id = u.run_id and m.first_no = u.first_no and m.removed_at is null
    returning 1)
  select expect_rows('update_maps', count(*), $7::integer) from hit`,
);

export function changeMaps(leaf: Leaf, maps: readonly MapFold[]): Call[] {
  const calls: Call[] = [];
  const added = maps.flatMap((map) => (map.expanded === null ? [] : [{ ...map, expanded: map.expanded }]));
  const changed = maps.filter(({ expanded }) => expanded === null);
  if (added.length > 0) {
    calls.push(
      call(
        insertMaps(leaf),
        ...keyColumns(added),
        plainArray(added.map(({ firstNo }) => firstNo)),
        plainArray(added.map(({ expanded }) => expanded.group)),
        nullableArray(added.map(({ expanded }) => expanded.scope)),
        plainArray(added.map(({ expanded }) => expanded.total)),
        plainArray(added.map(({ until }) => until ?? 0)),
        plainArray(added.map(({ expanded }) => expanded.at)),
        ...removal(added),
      ),
    );
  }
  if (changed.length > 0) {
    calls.push(
      call(
        updateMaps(leaf),
        ...keyColumns(changed),
        plainArray(changed.map(({ firstNo }) => firstNo)),
        nullableArray(changed.map(({ until }) => until)),
        ...removal(changed),
        changed.length,
      ),
    );
  }
  return calls;
}

function removal(maps: readonly MapFold[]): [string, string] {
  return [
    nullableArray(maps.map(({ removed }) => removed?.at ?? null)),
    textArray(maps.map(({ removed }) => removed?.actor ?? null)),
  ];
}

/** Column by column, as runs and tasks come. −1 stands for null. */
const selectMaps = leafStatement(
  'select_maps',
  (leaf) => `
  select array_agg(m.run_id)::text, array_agg(m.first_no)::text, array_agg(m.group_no)::text, array_agg(coalesce(m.scope, -1))::text,
      array_agg(m.total)::text, array_agg(m.unfolded)::text, array_agg((m.removed_at is not null)::integer)::text
    from unnest($1::smallint[], $2::bigint[]) as u (shard, run_id)
    join ${readable('map_expansion', leaf)} m on m.shard = u.shard and m.run_id = u.run_id`,
);

export function readMaps(leaf: Leaf, ids: readonly RunId[]): Call {
  return call(selectMaps(leaf), ...keyColumns(ids.map((runId) => ({ runId }))));
}

export type MapsByRun = Map<RunId, StoredMap[]>;

export function parseMaps(result: CallResult, into: MapsByRun): void {
  const row = result.rows[0] ?? [];
  const [runIds, firstNos, groups, scopes, totals, unfoldeds, removeds] = [0, 1, 2, 3, 4, 5, 6].map((column) =>
    parseIntegers(row[column]),
  ) as [number[], number[], number[], number[], number[], number[], number[]];
  runIds.forEach((id, i) => {
    const map: StoredMap = {
      group: groups[i]!,
      scope: scopes[i]! < 0 ? null : scopes[i]!,
      firstNo: firstNos[i]!,
      total: totals[i]!,
      unfolded: unfoldeds[i]!,
      isRemoved: removeds[i] === 1,
    };
    const maps = into.get(id as RunId);
    if (maps === undefined) into.set(id as RunId, [map]);
    else maps.push(map);
  });
}

export function sortMaps(maps: MapsByRun): void {
  for (const list of maps.values()) list.sort((a, b) => a.firstNo - b.firstNo);
}
