/** Lists for people: versions of a dag, servers. Queries about a tenant name it (I65). */
import { type DagSpec, type Instant, type NodeId, SHARD_COUNT, type TenantId, type VersionNo } from '@signalbox/engine';
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';
import { decodeNullableText, decodeText, encodeText } from '../text.ts';

export interface VersionSummary {
  readonly versionNo: VersionNo;
  readonly hash: string;
  readonly deployedAt: Instant;
  readonly deployedBy: string;
  readonly isCurrent: boolean;
}

export interface VersionDetails extends VersionSummary {
  readonly spec: DagSpec;
}

export interface NodeRow {
  readonly nodeId: NodeId;
  readonly gatewayAddress: string;
  readonly dataAddress: string;
  /** Of the product; null when it is too old to tell. */
  readonly version: string | null;
  readonly leaving: boolean;
  /** How far its machine's clock is ahead of the database's; null when it has not measured yet. */
  readonly clockAheadMs: number | null;
  /** Why it owns no shards; null when it may. */
  readonly unfit: string | null;
  readonly shards: number;
}

const VERSION_COLUMNS = 'v.version_no, v.hash, v.at, v.actor, v.version_no = d.version_no';
const OF_DAG = `dag d join dag_version v on v.shard = d.shard and v.dag_id = d.dag_id
   where d.tenant_id = $1::integer and d.name = $2::text`;

/** Leans on `dag_name` and on the primary key (shard, dag_id, version_no), from its end. */
const selectVersions = statement(
  'list_versions',
  `
  select ${VERSION_COLUMNS} from ${OF_DAG} and v.version_no < $3::integer
   order by v.version_no desc limit $4::integer`,
);
const selectVersion = statement(
  'find_version',
  `select ${VERSION_COLUMNS}, v.spec::text from ${OF_DAG} and v.version_no = $3::integer`,
);
const selectNodes = statement(
  'list_nodes',
  `
  select n.node_id, n.gateway_address, n.data_address, n.version, n.leaving, n.clock_ahead_ms, n.unfit,
         (select count(*) from shard s where s.owner = n.node_id)
    from node n order by n.node_id limit 1000`,
);

const MAX_VERSION = 2_147_483_647;

/** Newest first. */
export async function listVersions(
  database: Database,
  tenantId: TenantId,
  { dagName, before, limit }: { dagName: string; before: VersionNo | null; limit: number },
): Promise<VersionSummary[]> {
  const read = call(selectVersions, tenantId, encodeText(dagName), before ?? MAX_VERSION, limit);
  const [found] = await database.snapshot((ask) => ask([read], { last: true }));
  return (found?.rows ?? []).map(parseVersion);
}

export async function findVersion(
  database: Database,
  tenantId: TenantId,
  { dagName, versionNo }: { dagName: string; versionNo: VersionNo },
): Promise<VersionDetails | null> {
  const read = call(selectVersion, tenantId, encodeText(dagName), versionNo);
  const [found] = await database.snapshot((ask) => ask([read], { last: true }));
  const row = found?.rows[0];
  return row === undefined ? null : { ...parseVersion(row), spec: JSON.parse(row[5] ?? 'null') as DagSpec };
}

/** The servers on this database. They are nobody's in particular, so they have no tenant. */
export async function listNodes(database: Database): Promise<{ nodes: NodeRow[]; unowned: number }> {
  const { rows } = await database.one(call(selectNodes));
  const nodes = rows.map(([nodeId, gatewayAddress, dataAddress, version, leaving, clockAheadMs, unfit, shards]) => ({
    nodeId: nodeId as NodeId,
    gatewayAddress: gatewayAddress ?? '',
    dataAddress: dataAddress ?? '',
    version: version ?? null,
    leaving: leaving === 't',
    clockAheadMs: clockAheadMs === null || clockAheadMs === undefined ? null : Number(clockAheadMs),
    unfit: decodeNullableText(unfit ?? null),
    shards: Number(shards),
  }));
  return { nodes, unowned: SHARD_COUNT - nodes.reduce((sum, { shards }) => sum + shards, 0) };
}

function parseVersion(row: readonly (string | null)[]): VersionSummary {
  const [versionNo, hash, at, actor, isCurrent] = row;
  return {
    versionNo: Number(versionNo) as VersionNo,
    hash: decodeText(hash ?? ''),
    deployedAt: Number(at) as Instant,
    deployedBy: decodeText(actor ?? ''),
    isCurrent: isCurrent === 't',
  };
}
