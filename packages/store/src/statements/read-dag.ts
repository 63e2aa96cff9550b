/** Reads dags and versions. Each uses the primary key of its table, or `dag_name`. */
import type {
  DagId,
  DagSpec,
  Instant,
  ShardNo,
  StoredDag,
  StoredVersion,
  TenantId,
  VersionNo,
} from '@signalbox/engine';
import type { CallResult, Row } from '../batch.ts';
import { type Call, call, statement } from '../statement.ts';
import { decodeText, plainArray, textArray } from '../text.ts';

export interface DagKey {
  readonly shard: ShardNo;
  readonly dagId: DagId;
}
export interface VersionKey extends DagKey {
  readonly versionNo: VersionNo;
}

/** A server of the version before gives a dag its first schedule without noting the number. */
const LAST_SCHEDULE_NO = `case when d.last_schedule_no = 0 and exists (select from schedule s where s.shard = d.shard and s.dag_id = d.dag_id)
    then 1 else d.last_schedule_no end`;
const DAG_COLUMNS = `d.shard, d.dag_id, d.tenant_id, n.name, d.name, d.version_no, d.retired_at, d.windows_until, ${LAST_SCHEDULE_NO}`;

const selectDags = statement(
  'select_dags',
  `
  select ${DAG_COLUMNS}
    from unnest($1::smallint[], $2::bigint[]) as u (shard, dag_id)
    join dag d on d.shard = u.shard and d.dag_id = u.dag_id
    join tenant n on n.tenant_id = d.tenant_id`,
);

const selectDagsByName = statement(
  'select_dags_by_name',
  `
  select ${DAG_COLUMNS}
    from unnest($1::smallint[], $2::integer[], $3::text[]) as u (shard, tenant_id, name)
    join dag d on d.tenant_id = u.tenant_id and d.name = u.name and d.shard = u.shard
    join tenant n on n.tenant_id = d.tenant_id`,
);

/** Those asked for by number, and the current one of each dag in the second list. */
const selectVersions = statement(
  'select_versions',
  `
  select v.dag_id, v.version_no, v.hash, v.spec::text
    from (select * from unnest($1::smallint[], $2::bigint[], $3::integer[])
          union
          select d.shard, d.dag_id, d.version_no
            from unnest($4::smallint[], $5::bigint[]) as c (shard, dag_id)
            join dag d on d.shard = c.shard and d.dag_id = c.dag_id) as u (shard, dag_id, version_no)
    join dag_version v on v.shard = u.shard and v.dag_id = u.dag_id and v.version_no = u.version_no`,
);

export function readDags(dags: readonly DagKey[]): Call {
  return call(selectDags, ...dagColumns(dags));
}

export function readDagsByName(dags: readonly { shard: ShardNo; tenantId: TenantId; name: string }[]): Call {
  return call(
    selectDagsByName,
    plainArray(dags.map((dag) => dag.shard)),
    plainArray(dags.map((dag) => dag.tenantId)),
    textArray(dags.map((dag) => dag.name)),
  );
}

export function readVersions(versions: readonly VersionKey[], currentOf: readonly DagKey[]): Call {
  const numbers = plainArray(versions.map((version) => version.versionNo));
  return call(selectVersions, ...dagColumns(versions), numbers, ...dagColumns(currentOf));
}

export function dagColumns(dags: readonly DagKey[]): [string, string] {
  return [plainArray(dags.map((dag) => dag.shard)), plainArray(dags.map((dag) => dag.dagId))];
}

const text = (row: Row, column: number): string => decodeText(row[column] ?? '');
const integer = (row: Row, column: number): number => Number(row[column]);

export function parseDags({ rows }: CallResult): StoredDag[] {
  return rows.map((row) => ({
    shard: integer(row, 0) as ShardNo,
    dagId: integer(row, 1) as DagId,
    tenantId: integer(row, 2) as TenantId,
    tenant: text(row, 3),
    name: text(row, 4),
    versionNo: integer(row, 5) as VersionNo,
    isRetired: row[6] !== null,
    windowsUntil: integer(row, 7) as Instant,
    lastScheduleNo: integer(row, 8),
  }));
}

export function parseVersions({ rows }: CallResult): StoredVersion[] {
  return rows.map((row) => ({
    dagId: integer(row, 0) as DagId,
    versionNo: integer(row, 1) as VersionNo,
    hash: text(row, 2),
    spec: JSON.parse(row[3] ?? 'null') as DagSpec,
  }));
}
