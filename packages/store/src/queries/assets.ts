/** Assets of a tenant, over all shards. */
import { assetKey, type EventTrigger, type Instant, type RunUid, type TenantId } from '@signalbox/engine';
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';
import { decodeText, encodeText } from '../text.ts';

export interface AssetRow {
  readonly name: string;
  readonly at: Instant | null;
  readonly run: RunUid | null;
  readonly dag: string | null;
  readonly task: string | null;
  readonly actor: string | null;
  readonly count: number;
  readonly consumers: readonly { readonly dag: string; readonly triggers: readonly EventTrigger[] }[];
}

export type ListAssets =
  | { readonly name: string }
  | { readonly after: string; readonly limit: number; readonly part?: string | undefined };

const PREFIX = assetKey('');

/**
 * Those that were produced, and those that dags wait for. Leans on the index (tenant_id, name) of asset, and on the primary key
 * (tenant_id, event, …) of event_trigger. The newest row of an asset counts, where several shards produce it.
 */
const selectAssets = statement(
  'list_assets',
  `
  with named as (
    (select name from asset where tenant_id = $1::integer and ($2::text is null or name = $2::text) and name > $3::text
        and ($5::text is null or strpos(lower(name), $5::text) > 0)
      group by name order by name limit $4::integer)
    union
    (select distinct substr(event, ${PREFIX.length + 1}) from event_trigger
      where tenant_id = $1::integer and event > '${PREFIX}' || $3::text and event < '${PREFIX.trimEnd()}!'
        and ($2::text is null or event = '${PREFIX}' || $2::text)
        and ($5::text is null or strpos(lower(substr(event, ${PREFIX.length + 1})), $5::text) > 0)
      order by 1 limit $4::integer)
    order by 1 limit $4::integer)
  select n.name, a.at, a.run, a.dag, a.task, a.actor, coalesce(a.count, 0), coalesce(w.waiting, '[]')::text
    from named n
    left join lateral (
      select at, run, dag, task, actor, (sum(no) over ())::bigint as count from asset
       where tenant_id = $1::integer and name = n.name order by at desc limit 1) a on true
    left join lateral (
      select json_agg(json_build_object('dag', d.name, 'triggers', e.triggers) order by d.name) as waiting
        from event_trigger e join dag d on d.shard = e.shard and d.dag_id = e.dag_id
       where e.tenant_id = $1::integer and e.event = '${PREFIX}' || n.name) w on true
   order by n.name`,
);

/** In order of name. */
export async function listAssets(database: Database, tenantId: TenantId, list: ListAssets): Promise<AssetRow[]> {
  const one = 'name' in list ? encodeText(list.name) : null;
  const [after, limit] = 'name' in list ? ['', 1] : [encodeText(list.after), list.limit];
  const part = 'name' in list || list.part === undefined ? null : encodeText(list.part.toLowerCase());
  const { rows } = await database.one(call(selectAssets, tenantId, one, after, limit, part));
  return rows.map(([name, at, run, dag, task, actor, count, waiting]) => ({
    name: decodeText(name ?? ''),
    at: at === null || at === undefined ? null : (Number(at) as Instant),
    run: (run ?? null) as RunUid | null,
    dag: textOrNull(dag),
    task: textOrNull(task),
    actor: textOrNull(actor),
    count: Number(count ?? 0),
    consumers: (JSON.parse(waiting ?? '[]') as AssetRow['consumers']).map((waiter) => ({
      ...waiter,
      dag: decodeText(waiter.dag),
    })),
  }));
}

function textOrNull(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : decodeText(text);
}
