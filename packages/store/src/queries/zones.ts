/** The zone data of the cluster: which version it decides by, and the zones that were used so far (I3). */
import type { NodeId, TenantId, ZoneData } from '@signalbox/engine';
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';
import { encodeText } from '../text.ts';
import type { ChangedBy } from './audit.ts';

export interface ClusterZones {
  readonly version: string;
  /** By name in lower case. */
  readonly zones: ReadonlyMap<string, ZoneData>;
  /** The same of versions before, by which schedules of some shards were decided. */
  readonly before: ReadonlyMap<string, ReadonlyMap<string, ZoneData>>;
}

export interface RaisedZones extends ChangedBy {
  readonly tenantId: TenantId;
  readonly version: string;
  readonly zones: readonly ZoneData[];
}

const COLUMNS = 'zone, source, from_ms, until_ms, initial_offset_ms, transitions::text';
const claimVersion = statement(
  'claim_zone_version',
  'update cluster set zone_version = $1::text where zone_version is null',
);
const selectVersion = statement('select_zone_version', 'select zone_version from cluster');
const selectZones = statement(
  'select_zones',
  `select ${COLUMNS} from zone_data where version = (select zone_version from cluster) order by zone`,
);
const selectOlderZones = statement(
  'select_older_zones',
  `
  select ${COLUMNS}, version from zone_data
   where version in (select version from schedule_zone) and version <> (select zone_version from cluster) order by zone`,
);
/** The first row wins. */
const insertZones = statement(
  'insert_zones',
  `
  insert into zone_data (version, zone, source, from_ms, until_ms, initial_offset_ms, transitions)
  select coalesce($1::text, c.zone_version), lower(r.zone), r."tzVersion", r."fromMs", r."untilMs", r."initialOffsetMs", r.transitions
    from cluster c, json_to_recordset($2::json) as r (zone text, "tzVersion" text, "fromMs" bigint, "untilMs" bigint,
         "initialOffsetMs" integer, transitions json)
  on conflict do nothing`,
);
const selectZone = statement(
  'select_zone',
  `select ${COLUMNS} from zone_data where version = (select zone_version from cluster) and zone = lower($1::text)`,
);
/** With its audit event, in one statement: nothing is raised without one (I71). */
const raiseVersion = statement(
  'raise_zone_version',
  `
  with raised as (update cluster set zone_version = $1::text where zone_version < $1::text returning 1)
  insert into audit_event (tenant_id, actor, action, target, origin, outcome, details)
  select $2::integer, $3::text, 'zones.upgrade', $1::text, $4::text, 'done', json_build_object('zones', $5::integer) from raised
  returning 1`,
);
const noteVersion = statement(
  'note_zone_version',
  'update node set zone_version = $2::text where node_id = $1::uuid and zone_version is distinct from $2::text',
);
const selectNodes = statement(
  'select_node_zones',
  'select node_id, zone_version from node order by node_id limit 1000',
);

/** Null while no node has said which version the cluster has. */
export async function readZoneVersion(database: Database): Promise<string | null> {
  return (await database.one(call(selectVersion))).rows[0]?.[0] ?? null;
}

/** All zones that were used so far. The first node to ask gives the cluster its version. */
export async function readZones(database: Database, ownVersion: string): Promise<ClusterZones> {
  const [, version, found, older] = await database.write([
    call(claimVersion, ownVersion),
    call(selectVersion),
    call(selectZones),
    call(selectOlderZones),
  ]);
  const zones = (found?.rows ?? []).map(zoneOf);
  const before = new Map<string, Map<string, ZoneData>>();
  for (const row of older?.rows ?? []) {
    const [zone, name] = [zoneOf(row), row.at(-1) ?? ''];
    const known = before.get(name);
    if (known === undefined) before.set(name, new Map([[zone.zone, zone]]));
    else known.set(zone.zone, zone);
  }
  const named = new Map(zones.map((zone) => [zone.zone, zone]));
  return { version: version?.rows[0]?.[0] ?? ownVersion, zones: named, before };
}

/** Stores a zone that is used for the first time; answers what is stored, which another node may have done before. */
export async function keepZone(database: Database, zone: ZoneData): Promise<ZoneData> {
  const [, found] = await database.write([call(insertZones, null, textOf([zone])), call(selectZone, zone.zone)]);
  const [row] = found?.rows ?? [];
  return row === undefined ? zone : zoneOf(row);
}

/** False when the cluster has this version, or a newer one. */
export async function raiseZones(database: Database, raised: RaisedZones): Promise<boolean> {
  const { version, zones, tenantId, actor, origin } = raised;
  const values = [version, tenantId, encodeText(actor), encodeText(origin), zones.length] as const;
  const [, done] = await database.write([call(insertZones, version, textOf(zones)), call(raiseVersion, ...values)]);
  return (done?.rows.length ?? 0) > 0;
}

export async function noteZoneVersion(database: Database, nodeId: NodeId, version: string): Promise<void> {
  await database.one(call(noteVersion, nodeId, version));
}

export async function listNodeZones(database: Database): Promise<{ nodeId: string; version: string | null }[]> {
  const { rows } = await database.one(call(selectNodes));
  return rows.map(([nodeId, version]) => ({ nodeId: nodeId ?? '', version: version ?? null }));
}

function textOf(zones: readonly ZoneData[]): string {
  return JSON.stringify(
    zones.map(({ transitions, ...zone }) => ({
      ...zone,
      transitions: transitions.map(({ atMs, offsetMs }) => [atMs, offsetMs]),
    })),
  );
}

function zoneOf([zone, source, fromMs, untilMs, initialOffsetMs, transitions]: readonly (string | null)[]): ZoneData {
  const pairs = JSON.parse(transitions ?? '[]') as [number, number][];
  return {
    zone: zone ?? '',
    tzVersion: source ?? '',
    fromMs: Number(fromMs),
    untilMs: Number(untilMs),
    initialOffsetMs: Number(initialOffsetMs),
    transitions: pairs.map(([atMs, offsetMs]) => ({ atMs, offsetMs })),
  };
}
