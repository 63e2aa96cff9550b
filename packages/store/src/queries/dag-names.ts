/** All dags of a tenant at a glance: their names, tags and owners. */
import type { TenantId } from '@signalbox/engine';
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';
import { decodeText } from '../text.ts';
import {
  DAG_FILTER,
  type DagFilter,
  filterValues,
  looksIntoVersions,
  NO_VERSION_FILTER,
  OF_DAG,
} from './dag-filter.ts';
import { OWNER_BY_HAND } from './dag-owners.ts';

/** More than anybody scrolls through. */
export const MOST_NAMES = 50_000;

/** Both lean on the index `dag_name` (tenant_id, name). */
const selectNames = statement(
  'dag_names',
  `select d.name from dag d where d.tenant_id = $1::integer and ${OF_DAG} and ${NO_VERSION_FILTER}
   order by d.name limit ${MOST_NAMES}`,
);
const selectFoundNames = statement(
  'found_dag_names',
  `
  select d.name from dag d
    join dag_version v on v.shard = d.shard and v.dag_id = d.dag_id and v.version_no = d.version_no
   where d.tenant_id = $1::integer and ${DAG_FILTER}
   order by d.name limit ${MOST_NAMES}`,
);

/** Most dags have neither: a look at the text spares their parsing. */
const selectLabels = statement(
  'dag_labels',
  `
  with labelled as materialized (
    select v.spec, ${OWNER_BY_HAND} as owner from dag d
      join dag_version v on v.shard = d.shard and v.dag_id = d.dag_id and v.version_no = d.version_no
      cross join lateral (select v.spec::text as spec offset 0) t
     where d.tenant_id = $1::integer and d.retired_at is null
       and (strpos(t.spec, '"owner"') > 0 or strpos(t.spec, '"tags"') > 0 or ${OWNER_BY_HAND} is not null) and strpos(t.spec, '\\u0000') = 0),
  label as (
    select 'owner' as kind, coalesce(owner, spec->>'owner') as name from labelled
    union all
    select 'tag', t.name from labelled
      cross join lateral json_array_elements_text(case when json_typeof(spec->'tags') = 'array' then spec->'tags' else '[]' end) t (name))
  select kind, name, count(*) from label where name is not null group by kind, name order by kind, name`,
);

export async function listDagNames(database: Database, tenantId: TenantId, filter: DagFilter): Promise<string[]> {
  const [found] = await database.run([
    call(looksIntoVersions(filter) ? selectFoundNames : selectNames, tenantId, ...filterValues(filter)),
  ]);
  return (found?.rows ?? []).map(([name]) => decodeText(name ?? ''));
}

interface DagLabel {
  readonly name: string;
  /** How many dags have it. */
  readonly dags: number;
}

export interface DagLabels {
  readonly tags: readonly DagLabel[];
  readonly owners: readonly DagLabel[];
}

export async function listDagLabels(database: Database, tenantId: TenantId): Promise<DagLabels> {
  const [found] = await database.run([call(selectLabels, tenantId)]);
  const of = (kind: string) =>
    (found?.rows ?? [])
      .filter((row) => row[0] === kind)
      .map(([, name, dags]) => ({ name: decodeText(name ?? ''), dags: Number(dags) }));
  return { tags: of('tag'), owners: of('owner') };
}
